import type { Reason } from "../../../src/api/reasons.ts";
import type { IntentChoice, MountChoice, VolumeType } from "./choices.ts";
import { overlap, pathAt } from "./paths.ts";

/** An object as the API server would show it, before anybody has understood it. */
export interface RawIntent {
  readonly metadata: { readonly name: string; readonly uid: string; readonly generation: number };
  readonly spec: { readonly [field: string]: unknown };
}

/** What of the spec makes a volume one of its type. The second list of options is another than the first. */
interface SourceOfType {
  spec(volume: number, options: 0 | 1): { readonly [field: string]: unknown };
  /** Options that the staged file system is given. */
  readonly options: readonly [readonly string[], readonly string[]];
}

const none = [[], []] as const;

export const sources: { readonly [type in VolumeType]: SourceOfType } = {
  memory: {
    spec: (_volume, options) => ({
      source: { emptyDir: { medium: "Memory", ...(options === 1 && { sizeLimit: "1Mi" }) } },
    }),
    options: [["mode=0777"], ["mode=0777", "size=1048576"]],
  },
  disk: { spec: () => ({ source: { emptyDir: {} } }), options: none },
  hostPath: { spec: (volume) => ({ source: { hostPath: { path: `/srv/${volume % 2}` } } }), options: none },
  directory: { spec: (volume) => ({ source: { local: { path: `/srv/${volume % 2}` } } }), options: none },
  device: {
    spec: (volume, options) => ({
      source: { local: { path: `/dev/vd${volume}` } },
      fsType: "xfs",
      mountOptions: options === 0 ? ["discard"] : ["discard", "logbsize=32k"],
    }),
    options: [["discard"], ["discard", "logbsize=32k"]],
  },
  block: {
    spec: (volume) => ({ source: { local: { path: `/dev/vd${volume}` } }, volumeMode: "Block" }),
    options: none,
  },
  configMap: {
    spec: (volume) => ({ source: { configMap: { namespace: "default", name: `object-${volume}` } } }),
    options: none,
  },
  secret: {
    spec: (volume) => ({ source: { secret: { namespace: "default", secretName: `object-${volume}` } } }),
    options: [["mode=0755"], ["mode=0755"]],
  },
  nfs: {
    spec: (volume, options) => ({
      source: { nfs: { server: "server", path: `/export-${volume}` } },
      mountOptions: options === 0 ? ["hard"] : ["hard", "timeo=30"],
    }),
    options: [["hard"], ["hard", "timeo=30"]],
  },
};

/** Types whose mounts can be recognised, so that they may be adopted. */
const adoptable: readonly VolumeType[] = ["hostPath", "directory", "device", "block", "nfs"];

const contents: readonly VolumeType[] = ["configMap", "secret"];

/** Ways to say something that is not understood, each with the path of the field. */
export const breakages: readonly {
  readonly path: string;
  /** As which it is reported, if not as Invalid. */
  readonly reason?: Reason;
  breaks(spec: RawIntent["spec"]): RawIntent["spec"];
}[] = [
  { path: ".spec.mode", breaks: (spec) => ({ ...spec, mode: "Improvise" }) },
  { path: ".spec.future", breaks: (spec) => ({ ...spec, future: { field: true } }) },
  { path: ".spec.source", breaks: (spec) => ({ ...spec, source: { hostPath: { path: "/srv" }, emptyDir: {} } }) },
  {
    path: ".spec.mounts[0].path",
    reason: "DotDotInPath",
    breaks: (spec) => ({ ...spec, mounts: [{ name: "bad", requester, path: "/mnt/../etc" }] }),
  },
];

const requester = { kind: "NodeVolumeSet", name: "set", uid: "set-uid" };

export function rawIntent(
  choice: IntentChoice,
  volume: { readonly name: string; readonly index: number; readonly type: VolumeType },
  identity: { readonly uid: string; readonly generation: number },
): RawIntent {
  const spec = {
    nodeName: "node",
    nodeUID: "node-uid",
    volumeName: `volume-${volume.index}`,
    mode: choice.observe ? "Observe" : "Manage",
    volumeMode: "Filesystem",
    suspend: choice.suspend,
    ...(choice.granted && !choice.observe && { grant: { id: "grant-1" } }),
    ...(choice.adopt && adoptable.includes(volume.type) && { adopt: "IfSame" }),
    deletionPolicy: choice.retain && !choice.observe && !contents.includes(volume.type) ? "Retain" : "Unmount",
    unmountPolicy: { max: choice.unmountMax, timeoutSeconds: 90 },
    mounts: apart(choice.mounts).map(({ path, moved, readOnly, noexec }, _index, all) => ({
      name: `set.m${moved && all.every((other) => other.path !== 0 && (other.path === path || !other.moved)) ? 0 : path}`,
      requester,
      path: pathAt(path),
      readOnly: readOnly && volume.type !== "block",
      mountOptions: noexec && volume.type !== "block" ? ["noexec"] : [],
    })),
    ...sources[volume.type].spec(volume.index, choice.options),
  };
  const breakage = choice.broken === undefined ? undefined : breakages[choice.broken];
  const metadata = {
    name: volume.name,
    ...identity,
    ...(choice.deleting && { deletionTimestamp: "2026-01-01T00:00:00Z" }),
  };
  return { metadata, spec: breakage === undefined ? spec : breakage.breaks(spec) };
}

/** No two mounts of one intent lie one beneath the other: the API refuses that. */
function apart(mounts: readonly MountChoice[]): MountChoice[] {
  return mounts.filter(({ path }, i) => !mounts.slice(0, i).some((other) => overlap(pathAt(other.path), pathAt(path))));
}
