import {
  isBeneath,
  joinPath,
  type MountIdentity,
  type MountTable,
  relativePath,
} from "../../host/mount-table/mount-table.ts";
import type { ChildProcessID } from "../../host/ports/types.ts";
import type { ContentRef } from "../../plugins/api/content.ts";
import type { Problem, ServerUnresponsive } from "./actual-volume.ts";
import type { Desired } from "./desired.ts";
import type { Failures } from "./failure.ts";
import type { IntentUID, MountPath, VolumeName } from "./identities.ts";
import type { Begun, OperationKind } from "./operation.ts";
import type { OwnershipChange } from "./ownership-change.ts";
import type { TokenState } from "./pod-identity.ts";
import type { SlowCall, StuckOperation } from "./stuck-operation.ts";
import type { SwapState } from "./swap-states.ts";
import type { VolumeHealth } from "./volume-plan.ts";
import type { VolumeRecord } from "./volume-record.ts";

/** All inputs of the planner: desired state of world, actual state of world, and the time. */
export interface PlanInput {
  /** Intents of this node by name. */
  readonly desired: ReadonlyMap<VolumeName, Desired>;
  /** Whether the intents were read completely since start (law L1). */
  readonly synced: boolean;
  readonly records: ReadonlyMap<VolumeName, VolumeRecord>;
  /** Whether there may be mounts of ours of which there is no record any more. */
  readonly mayHaveLost: boolean;
  /** Undefined if it could not be read. */
  readonly table: MountTable | undefined;
  /** The node's mount table, if the agent has a mount namespace of its own. It is read after `table`. */
  readonly nodeTable?: MountTable;
  /** Operations that run, and children of earlier ones that were not seen to end. */
  readonly pendingOperations: ReadonlyMap<VolumeName, OperationKind>;
  /** Those of this process, each with the generation of the spec that it was started for. */
  readonly begun?: ReadonlyMap<VolumeName, Begun>;
  /** Child processes and drivers that do not answer, and operations that legitimately take long. */
  readonly stuckOperations?: ReadonlyMap<VolumeName, StuckOperation | SlowCall | OwnershipChange>;
  readonly failures: Failures;
  readonly contents: (ref: ContentRef) => ContentState;
  /** The last look at the sources of observed volumes, and of volumes whose record was lost. */
  readonly observed: ReadonlyMap<VolumeName, Observation>;
  /** Volume conditions that CSI drivers report. Most drivers report none. */
  readonly health?: ReadonlyMap<VolumeName, VolumeHealth>;
  /** Mounted volumes whose server is unresponsive. */
  readonly unresponsive?: ReadonlyMap<VolumeName, ServerUnresponsive>;
  /** FUSE volumes whose client process has ended, with that process. */
  readonly ended?: ReadonlyMap<VolumeName, ChildProcessID>;
  /** Of volumes that the node is to swap to. */
  readonly swaps?: ReadonlyMap<VolumeName, SwapState>;
  /** Whether a CSI driver is registered on the node; undefined if that is not known. */
  readonly registered?: (driver: string) => boolean;
  /** Paths of pod targets for which kubelet has called NodeUnpublishVolume. Changed in place. */
  readonly closingPods?: ReadonlySet<MountPath>;
  /** Tokens that kubelet passed for pod targets, by path. Changed in place. */
  readonly tokens?: ReadonlyMap<MountPath, TokenState>;
  readonly settings: PlanSettings;
  /** Milliseconds of the monotonic clock, and which run of the agent it is that counts them. */
  readonly now: number;
  readonly epoch?: number;
}

/** The part of the configuration that decisions depend on. It does not change while the agent runs. */
export interface PlanSettings {
  readonly allowedPrefixes: readonly string[];
  readonly stateDir: string;
  readonly hostRoot: string;
  /** Root of what CSI drivers stage and publish; they see it at the same path. */
  readonly csiDir: string;
  /** kubelet's root directory, beneath which the targets of pods are; undefined: there are no pods. */
  readonly kubeletDir?: string;
  /** False: this node uses only volumes of drivers that attach nothing; true if not given. */
  readonly controllerAttachDetach?: boolean;
  /** Where vendors' flexvolume drivers are, as the node sees it; kubelet's default if not given. */
  readonly flexVolumeDir?: string;
  /** Whether the node labels files by SELinux. */
  readonly seLinux?: boolean;
}

/** The state of an object that a volume shows, or of all of them. `digest` is of their contents (SaltedDigest). */
export type ContentState =
  /** As it was last seen; with a problem, if changes of it are not seen any more. */
  | { readonly known: true; readonly version: string; readonly problem?: Problem; digest?(salt: string): string }
  /** Not there, not allowed, or not read yet. */
  | { readonly known: false; readonly problem: Problem };

/** A look at the source of a volume. */
export interface Observation extends Observed {
  /** Of the intent that it was a look for. */
  readonly uid: IntentUID;
  readonly generation: number;
  /** Milliseconds of the monotonic clock. */
  readonly at: number;
  /** It showed the same as the look before it. */
  readonly steady?: boolean;
}

/** The result of one look at an observed volume, without its time. */
export interface Observed {
  /** Undefined if there was nothing. */
  readonly source?: ObservedSource;
  /** Id of the mount that the source's path was in. */
  readonly mountID?: number;
  /** Of a volume that kubelet manages: pods without a mount, and those of them that have a mount point. */
  readonly kubelet?: { readonly asked: string; readonly left: readonly string[] };
}

/** The file or device that the source path of an observed volume leads to. */
interface ObservedSource {
  /** What a bind of it shows. */
  readonly identity: MountIdentity;
  /** `major:minor` that a device node stands for. */
  readonly deviceNumber?: string;
}

/** PURE. What was seen for an intent at a time, compared with the look before it. */
export function observationOf(
  { uid, generation }: Pick<Desired, "uid" | "generation">,
  seen: Observed,
  { at, previous }: { readonly at: number; readonly previous: Observation | undefined },
): Observation {
  const sameSpec = previous?.uid === uid && previous.generation === generation;
  const steady = sameSpec && JSON.stringify(shownBy(previous)) === JSON.stringify(shownBy(seen));
  return { uid, generation, at, ...seen, ...(steady && { steady }) };
}

function shownBy({ source, mountID, kubelet }: Observed) {
  return { source, mountID, kubelet };
}

/** PURE. The last look for this very intent: one of the same name before it may have had another source. */
export function lastObservation({ name, uid }: Desired, observed: PlanInput["observed"]): Observation | undefined {
  const seen = observed.get(name);
  return seen?.uid === uid ? seen : undefined;
}

/** Where the volume's own mount is staged. */
export function stagingPath(settings: PlanSettings, { key }: Pick<VolumeRecord, "key">): string {
  return `${settings.stateDir}/staging/${key}`;
}

/** PURE. The data directory of a volume: what the agent or its plugin writes for it. A mount may be on it. */
export function dataPath(settings: PlanSettings, { key }: Pick<VolumeRecord, "key">): string {
  return `${settings.stateDir}/data/${key}`;
}

/** Where the agent finds a path of the host, links aside. */
export function hostSource({ hostRoot }: Pick<PlanSettings, "hostRoot">, path: string): string {
  return joinPath(hostRoot, path.slice(1));
}

/** PURE. The path by which the host has what the agent finds there, which may see each mount of it a second time. */
export function pathOnHost({ hostRoot }: Pick<PlanSettings, "hostRoot">, path: string): string {
  return hostRoot !== "/" && isBeneath(path, hostRoot) ? joinPath("/", relativePath(hostRoot, path)) : path;
}
