import type { MountTable } from "../../host/mount-table/mount-table.ts";
import type { UnmountMode } from "../../host/ports/host-ports.ts";
import type { MountPath, VolumeName } from "./identities.ts";

/** One operation for one volume. At most one runs per volume; after it, the planner decides again. */
export type Operation = {
  readonly volume: VolumeName;
  /** The unique id of the mount that the action names by its reusable id, if known (statmount(2), Linux 6.8). */
  readonly uniqueID?: number;
} & Action;

/** PURE. The operation with the unique id of the mount that it names, by the table that it was planned from. */
export function exactly(operation: Operation, table: MountTable | undefined): Operation {
  const named =
    operation.kind === "publish" ? operation.replaces : "mountID" in operation ? operation.mountID : undefined;
  const uniqueID = named === undefined ? undefined : table?.byID(named)?.uniqueID;
  return uniqueID === undefined ? operation : { ...operation, uniqueID };
}

/** The kinds of operations, with their arguments. A new kind does not compile until everybody handles it. */
export type Action =
  /** Find, make or mount what targets are bound from. */
  | { readonly kind: "stage" }
  /** Write the newest content of the objects that the volume shows. */
  | { readonly kind: "refresh" }
  /** Remount the staged file system with other options. */
  | { readonly kind: "reconfigure"; readonly mountID: number }
  /** Bind the volume to a target; `replaces` is the mount of ours that shows something else. */
  | { readonly kind: "publish"; readonly path: MountPath; readonly replaces?: number }
  /** Write down a foreign mount that shows the same volume as ours. */
  | { readonly kind: "adopt"; readonly path: MountPath; readonly mountID: number }
  /** Record which mount is ours, if a crash or another mount namespace left that open. */
  | { readonly kind: "note"; readonly path: MountPath; readonly mountID: number }
  | { readonly kind: "setAttributes"; readonly path: MountPath; readonly mountID: number }
  /** Record that mounts of an earlier intent of this name now belong to this one. */
  | { readonly kind: "claim" }
  /**
   * Unmount a target, if ours is mounted there, or where it is `at` after a directory above was renamed; remove the
   * mount point, if we made it.
   */
  | {
      readonly kind: "unpublish";
      readonly path: MountPath;
      readonly at?: string;
      readonly mountID?: number;
      readonly unmountMode: UnmountMode;
    }
  /** Unmount and remove what stage made, once nobody on the node holds it. */
  | { readonly kind: "unstage"; readonly mountID?: number; readonly unmountMode: UnmountMode }
  /** Record the calls that a CSI driver may have received for a volume whose record may be lost. */
  | { readonly kind: "recover" }
  /** Call NodePublishVolume again, because the driver requires it (requiresRepublish). */
  | { readonly kind: "republish"; readonly path: MountPath }
  /** Expand the volume on the node to its size at the backend. */
  | { readonly kind: "expand" }
  /** Record that the volume is retained: it stays as it is, unmanaged. */
  | { readonly kind: "retain" }
  /** Drop the record of a volume that left nothing behind. */
  | { readonly kind: "forget" }
  /** Find out what the source of an observed volume shows. Changes nothing. */
  | { readonly kind: "observe" };

/** The name of an operation's kind, in logs and in the label `operation` of metrics. */
export type OperationKind = Action["kind"];

/** Whether an operation removes something, so that it requires complete knowledge of the intents (law L1). */
export function isRemoval(action: Action): boolean {
  if (action.kind === "publish") return action.replaces !== undefined;
  return action.kind === "unpublish" || action.kind === "unstage" || action.kind === "forget";
}

/** The operation as a line of a plan. */
export function describe(action: Action): string {
  switch (action.kind) {
    case "stage":
      return "stage the volume";
    case "refresh":
      return "write the new content";
    case "reconfigure":
      return "change the file system's options in place";
    case "publish":
      return action.replaces === undefined ? `mount on ${action.path}` : `replace what ${action.path} shows`;
    case "adopt":
      return `take over the mount on ${action.path}`;
    case "note":
      return `write down which mount is on ${action.path}`;
    case "setAttributes":
      return `change the options of ${action.path} in place`;
    case "claim":
      return "take over the mounts of an earlier intent";
    case "unpublish":
      return `unmount ${action.at ?? action.path}`;
    case "unstage":
      return "unstage the volume";
    case "recover":
      return "write down what may be there of the volume";
    case "republish":
      return `publish ${action.path} again`;
    case "expand":
      return "grow the volume";
    case "retain":
      return "leave the mounts to nobody";
    case "forget":
      return "forget the volume";
    case "observe":
      return "look at the source";
  }
}

/** An operation that runs, and the spec that it was planned from. */
export interface Begun {
  readonly operation: Operation;
  readonly generation: number;
  /** Milliseconds of the monotonic clock. */
  readonly at: number;
}
