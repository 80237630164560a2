import type { MountTable } from "../../host/mount-table/mount-table.ts";
import type { MountEntry } from "../../host/mount-table/mountinfo.ts";
import type { ChildProcessID } from "../../host/ports/types.ts";
import type { MountMatch } from "./actual-volume.ts";
import type { DesiredVolume, InvalidVolume } from "./desired.ts";
import type { PlanSettings } from "./plan-input.ts";
import type { SwapState } from "./swap-states.ts";
import type { VolumeRecord } from "./volume-record.ts";

/** Inputs of the actual state of one volume. */
export interface ActualStateInput {
  /** Undefined if the intent is gone or not understood. */
  readonly desired: DesiredVolume | undefined;
  /** The intent, if it is not understood. */
  readonly unread?: InvalidVolume | undefined;
  readonly record: VolumeRecord | undefined;
  /** Whether there may have been a record that is lost. */
  readonly mayHaveLost: boolean;
  /** Undefined if it could not be read: then everything that is recorded is uncertain. */
  readonly table: MountTable | undefined;
  /** The node's mount table, if it is another one than the agent's. */
  readonly nodeTable?: MountTable | undefined;
  readonly settings: PlanSettings;
  /** Where a file system of the volume would be staged. */
  readonly stagingPath: string;
  /** The client of the volume that has ended, if it is mounted by FUSE. */
  readonly ended?: ChildProcessID | undefined;
  /** Of a volume that the node is to swap to. */
  readonly swap?: SwapState | undefined;
  /** How like the volume a mount is that no record covers; undefined if that is not known. */
  identifyMount(mount: MountEntry): MountMatch | undefined;
}
