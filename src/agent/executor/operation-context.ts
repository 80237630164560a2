import type { SecretReference } from "../../api/types.gen.ts";
import type { CSIDrivers, Secrets } from "../../csi/ports.ts";
import { VolumeError } from "../../errors.ts";
import { isBeneath } from "../../host/mount-table/mount-table.ts";
import type { Effects, HostPorts } from "../../host/ports/host-ports.ts";
import type { TargetPath } from "../../host/ports/types.ts";
import type { ContentRef, ObjectContent } from "../../plugins/api/content.ts";
import type { Vendors } from "../../plugins/api/teardown-data.ts";
import type { Cancel } from "../../ports.ts";
import type { Journal } from "../journal/journal.ts";
import type { Moment } from "../model/csi-call-record.ts";
import { type Desired, type DesiredVolume, isInvalid } from "../model/desired.ts";
import type { VolumeName } from "../model/identities.ts";
import type { OwnershipChange } from "../model/ownership-change.ts";
import { type Observed, type PlanSettings, stagingPath } from "../model/plan-input.ts";
import type { IdentitySource } from "../model/pod-identity.ts";
import { podOfPath } from "../model/pod-path.ts";
import type { VolumeRecord } from "../model/volume-record.ts";
import type { RunningChange } from "./fsgroup-progress.ts";

/** What every action works with: one volume, its journal, and the effects on the node. */
export interface ActionContext {
  readonly desired: Desired | undefined;
  readonly journal: Journal;
  readonly host: HostPorts;
  readonly effects: Effects;
  readonly settings: PlanSettings;
  /** Of the mount that the operation names by its id. */
  readonly uniqueID: number | undefined;
  /** Content as it is now; undefined if it is not known. */
  content(ref: ContentRef): ObjectContent | undefined;
  observed(seen: Observed): void;
  progress(message: string): void;
  /** Files begin to be given to a group; people are told of it if that takes long. */
  changesOwnership(what: Omit<OwnershipChange, "entries">): RunningChange;
  readonly csi: CSIAccess;
  readonly vendors: Vendors;
}

/** What is needed of CSI drivers. */
export interface CSIAccess {
  readonly drivers: CSIDrivers;
  /** As it is now. @throws VolumeError */
  secret(ref: SecretReference): Promise<Secrets>;
  /** Pods that drivers act as. */
  readonly identities: IdentitySource;
  now(): Moment;
  /** Says what is waited for, if the answer to a call takes long. @returns to be called when the call has ended */
  waitsFor(driver: string, method: string): Cancel;
  /**
   * Takes the directory of a driver's volume until the operation ends.
   * @returns the volume whose operation has it; then it is not taken
   */
  takeDirectory(directory: string): string | undefined;
  /** Milliseconds after which a call ends without an answer. */
  readonly deadlineMs: number;
}

/** The intent that an action sets something up for. */
export function wanted(context: ActionContext): DesiredVolume {
  const { desired } = context;
  if (desired === undefined || isInvalid(desired)) throw new Error("an action that sets up needs an intent");
  return desired;
}

/** Whether the volume is to live on: what an action takes down is not its release. */
export function isGiven({ desired }: ActionContext): boolean {
  return desired !== undefined && !isInvalid(desired) && !desired.deleting;
}

/** The volume's record, or an empty one to begin with; for the intent that is acted for now. */
export function recordOf(context: ActionContext, name: VolumeName): VolumeRecord {
  const present = context.journal.records.get(name);
  const { desired } = context;
  if (desired === undefined || isInvalid(desired)) {
    if (present === undefined) throw new Error(`no record of ${name}`);
    return present;
  }
  const { uid, generation, type } = desired;
  const known = present?.uid === uid ? present : present && withoutLeave(present);
  return { targets: [], ...known, name, key: desired.spec.key, type, uid, generation };
}

/**
 * The record of an intent of before: its leave to write over what it had begun on a disk is not that of another, as
 * somebody else may have had the disk between the two. A logical volume is this node's alone.
 */
function withoutLeave(record: VolumeRecord): VolumeRecord {
  const { formatting: _over, ...rest } = record;
  if (rest.stage?.undo === undefined) return rest;
  const { fresh: _finished, ...undo } = rest.stage.undo;
  return undo["volumeGroup"] === undefined ? { ...rest, stage: { ...rest.stage, undo } } : record;
}

/** PURE. The staging path of a volume, and the directory that all steps to it stay beneath. */
export function stagingTarget({ settings }: ActionContext, volume: Pick<VolumeRecord, "key">): TargetPath {
  return { prefix: settings.stateDir, path: stagingPath(settings, volume) };
}

/**
 * A path that may be mounted on; undefined for any other. Of a pod, only the last segment is ours to make: kubelet
 * makes what is above it, and takes it away (CSI: NodePublishVolume).
 */
export function allowedTarget({ settings }: ActionContext, path: string): TargetPath | undefined {
  if (podOfPath(settings.kubeletDir, path) !== undefined) return { prefix: path.slice(0, path.lastIndexOf("/")), path };
  const prefix = settings.allowedPrefixes.find((p) => p !== path && isBeneath(path, p));
  return prefix === undefined ? undefined : { prefix, path };
}

/** @throws VolumeError PathNotAllowed: the agent's own check, whatever the planner said */
export function targetPath(context: ActionContext, path: string): TargetPath {
  const target = allowedTarget(context, path);
  if (target !== undefined) return target;
  throw new VolumeError("PathNotAllowed", "final", `${path} is not beneath one of the allowed prefixes`);
}
