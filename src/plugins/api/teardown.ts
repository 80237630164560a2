import type { MountTable } from "../../host/mount-table/mount-table.ts";
import type { Directories, Effects, UnmountMode } from "../../host/ports/host-ports.ts";
import type { TargetPath } from "../../host/ports/types.ts";
import type { ObjectContent } from "./content.ts";
import type { TearDownData, Vendors } from "./teardown-data.ts";
import type { StagingPlugin, VolumePlugin, VolumeSpec } from "./volume-plugin.ts";

/** Arguments and ports for undoing what a plugin staged. */
export interface TearDownContext extends Effects {
  readonly directories: Directories;
  readonly stagingTarget: TargetPath;
  readonly hostRoot: string;
  readonly vendors: Vendors;
  /** What other volumes of the type have to undo, and do not yet, now. */
  others(): readonly TearDownData[];
  /** How far an unmount may go now. */
  readonly unmountMode: UnmountMode;
  /** The mounts that the agent sees, now. */
  tableNow(): Promise<MountTable>;
  /**
   * Unmounts what is on a path of ours, as far as may be now.
   * @throws VolumeError TargetBusy, with what keeps it busy
   */
  unmount(target: TargetPath): Promise<void>;
  progress(message: string): void;
}

/** Arguments and ports for expanding a staged volume. */
interface ExpandContext extends TearDownContext {
  /** Of each that layout.content names, in its order; undefined if it is not known now. */
  readonly content: readonly ObjectContent[] | undefined;
}

/** A plugin that has more to undo than a mount on the staging path: a device to detach, a session to log out of. */
export interface DetachablePlugin extends StagingPlugin {
  /**
   * Unmounts the staging path by means of the plugin's own. Idempotent, also where nothing is mounted. What is left
   * there, the agent unmounts.
   */
  unmountStaged?(undo: TearDownData, context: TearDownContext): Promise<void>;
  /**
   * Undoes the rest, when no mount namespace of the node shows what was staged, and nobody has the device open.
   * Idempotent: called again after a crash. While it rejects, the volume is in use.
   */
  detach(undo: TearDownData, context: TearDownContext): Promise<void>;
}

/** PURE. Whether a plugin has something to undo beside the mount on the staging path. */
export function isDetachable(plugin: VolumePlugin): plugin is DetachablePlugin {
  return "detach" in plugin;
}

/** A plugin that grows its volumes while they are mounted. Their layout says so, too (`grows`). */
export interface ExpandingPlugin extends DetachablePlugin {
  /** @param size in bytes, as text: what it has by all that is known, and what it is to have */
  expand(
    spec: VolumeSpec,
    size: { readonly from: string; readonly to: string },
    undo: TearDownData,
    context: ExpandContext,
  ): Promise<void>;
}

/** PURE. Whether a plugin can expand a staged volume. */
export function expands(plugin: VolumePlugin): plugin is ExpandingPlugin {
  return "expand" in plugin;
}
