import type { NodeVolumeIntent } from "../../api/types.gen.ts";
import type { FieldError } from "../../api/validate.ts";
import { hasDots } from "../../api/values/path.ts";
import type { SourceType } from "../../plugins/api/volume-plugin.ts";
import { plugins } from "../../plugins/registry.ts";
import type { InvalidVolume, MayHave } from "../model/desired.ts";
import { asIntentUID, asMountPath, asVolumeName } from "../model/identities.ts";

/** PURE. An intent that was not understood, with what could be read of it all the same. */
export function notUnderstood(raw: NodeVolumeIntent, errors: readonly FieldError[], key: string): InvalidVolume {
  const { metadata } = raw;
  const spec = membersOf(raw.spec);
  const mayHave = mayHaveOf(spec);
  return {
    name: asVolumeName(metadata.name),
    key,
    uid: asIntentUID(metadata.uid ?? ""),
    generation: metadata.generation ?? 0,
    deleting: metadata.deletionTimestamp !== undefined,
    problem: `not understood: ${errors.map((error) => `${error.path}: ${error.message}`).join("; ")}`,
    ...(hasDotsInTarget(spec["mounts"]) && { reason: "DotDotInPath" as const }),
    deletionPolicy: spec["deletionPolicy"] === "Retain" ? "Retain" : "Unmount",
    unmountPolicy: { max: "Normal", timeoutSeconds: 90 },
    ...(mayHave && { mayHave }),
  };
}

function hasDotsInTarget(mounts: unknown): boolean {
  if (!Array.isArray(mounts)) return false;
  return mounts.some((mount) => isPath(membersOf(mount)["path"], hasDots));
}

/** Sources that a CSI driver stages: the mount table need not show what it did. */
const ofDrivers: readonly string[] = ["csi", "persistentVolumeClaim"] satisfies SourceType[];

/** Nothing was ever set up for what is only observed, or was not granted (safety rules 2 and 27). */
function mayHaveOf({ mode, grant, source, mounts, pods }: Members): MayHave | undefined {
  if (mode === "Observe" || grant === undefined) return undefined;
  const paths = eachOf(mounts, ({ path }) => (isPath(path) ? asMountPath(path) : undefined));
  const ofPods = eachOf(pods, ({ uid, volume }) =>
    typeof uid === "string" && typeof volume === "string" ? { uid, volume } : undefined,
  );
  const types = Object.keys(membersOf(source));
  const byAgent =
    types.length === 1 && types.every((type) => Object.hasOwn(plugins, type) && !ofDrivers.includes(type));
  return {
    ...(paths && ofPods && { paths, pods: ofPods }),
    byDriver: !byAgent || membersOf(grant)["csi"] !== undefined,
  };
}

/** Undefined if one of them cannot be read. */
function eachOf<T>(list: unknown, read: (members: Members) => T | undefined): T[] | undefined {
  if (list === undefined) return [];
  if (!Array.isArray(list)) return undefined;
  const all = list.map((one) => read(membersOf(one)));
  const known = all.filter((one) => one !== undefined);
  return known.length === all.length ? known : undefined;
}

function isPath(value: unknown, holds: (path: string) => boolean = () => true): value is string {
  return typeof value === "string" && holds(value);
}

type Members = Readonly<Record<string, unknown>>;

function membersOf(value: unknown): Members {
  return typeof value === "object" && value !== null ? (value as Members) : {};
}
