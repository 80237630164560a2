import type { KubeObject } from "../api/meta.ts";
import { resource } from "../api/names.ts";
import { hasDots } from "../api/path.ts";
import type { NodeVolumeIntent } from "../api/types.gen.ts";
import { parseIntent, parseIntentStatus } from "../api/validate.ts";
import { createReflector, type Reflector, type ReflectorDeps } from "../kube/reflector.ts";
import { sameJson } from "../kube/same-json.ts";
import type { Transport } from "../kube/transport.ts";
import type { System } from "../ports.ts";
import { type Desired, desiredVolume, isInvalid } from "./desired-volume.ts";
import { volumeKey } from "./volume-key.ts";

/** An intent as it came, and as it is understood. */
export interface IntentEntry extends KubeObject {
  readonly raw: NodeVolumeIntent;
  readonly desired: Desired;
}

/** The intents of one node: the desired world. Reads begin with a quorum read (safety rule 4). */
export function intentsOf(
  node: string,
  deps: { system: System; transport: Transport; onRestart?: NonNullable<ReflectorDeps<IntentEntry>["onRestart"]> },
): Reflector<IntentEntry> {
  const intents: Reflector<IntentEntry> = createReflector<IntentEntry>({
    ...deps,
    resource: resource.intents,
    fieldSelector: `spec.nodeName=${node}`,
    project: (object) => understand(object, (name) => intents.store.get(name)),
  });
  return intents;
}

/**
 * Understood once, when it comes in. Of an object that differs from what is known in its status alone, `desired` is the
 * very same: each status that is written comes back twice, as the answer and by the watch.
 */
export function understand(
  object: unknown,
  known: (name: string) => IntentEntry | undefined = () => undefined,
): IntentEntry | undefined {
  const whole = object as NodeVolumeIntent; // the API server's own object; only metadata is read before it is validated
  if (whole.metadata?.name === undefined) return undefined;
  const raw = withoutManagedFields(whole);
  const before = known(raw.metadata.name);
  if (before !== undefined && isSameIntent(before, raw)) return withStatus(before, raw);
  const parsed = parseIntent(raw);
  if (parsed.ok) {
    const intent = parsed.value;
    return { metadata: intent.metadata, raw: intent, desired: desiredVolume(intent, volumeKey(intent.metadata.name)) };
  }
  const { metadata, spec } = raw;
  const problem = parsed.errors.map((error) => `${error.path}: ${error.message}`).join("; ");
  const desired: Desired = {
    name: metadata.name,
    uid: metadata.uid ?? "",
    generation: metadata.generation ?? 0,
    deleting: metadata.deletionTimestamp !== undefined,
    problem: `not understood: ${problem}`,
    ...(hasDotsInTarget(raw) && { reason: "DotDotInPath" as const }),
    deletionPolicy: spec?.deletionPolicy === "Retain" ? "Retain" : "Unmount",
    unmountPolicy: { max: "Normal", timeoutSeconds: 90 },
  };
  return { metadata, raw, desired };
}

/** Who has written which field is half of an object, and nothing to an agent. */
function withoutManagedFields(raw: NodeVolumeIntent): NodeVolumeIntent {
  if (!("managedFields" in raw.metadata)) return raw;
  const { managedFields: _, ...metadata } = raw.metadata;
  return { ...raw, metadata };
}

/** Of an object that was not understood, so nothing of it is known. */
function hasDotsInTarget({ spec }: NodeVolumeIntent): boolean {
  const mounts: unknown = spec?.mounts;
  if (!Array.isArray(mounts)) return false;
  return mounts.some((mount: { path?: unknown } | null) => typeof mount?.path === "string" && hasDots(mount.path));
}

/** Whether two objects are one intent with one spec; the generation alone is a number that the server has chosen. */
function isSameIntent({ raw: { metadata, spec } }: IntentEntry, now: NodeVolumeIntent): boolean {
  const { uid, generation, deletionTimestamp } = now.metadata;
  const same = uid === metadata.uid && generation === metadata.generation;
  return same && deletionTimestamp === metadata.deletionTimestamp && sameJson(spec, now.spec);
}

function withStatus({ raw, desired, metadata: known }: IntentEntry, now: NodeVolumeIntent): IntentEntry {
  const { metadata } = now;
  const isKnown = metadata.resourceVersion !== undefined && metadata.resourceVersion === known.resourceVersion;
  const status = isKnown ? raw.status : isInvalid(desired) ? now.status : parseIntentStatus(now.status);
  return { metadata, raw: { ...raw, metadata, status }, desired };
}
