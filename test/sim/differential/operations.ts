import type { UnmountMode } from "../../../src/host/ports/host-ports.ts";
import type { MountAttributes } from "../../../src/host/ports/types.ts";
import type { Propagation } from "../kernel/syscalls.ts";

/** Which mount namespace somebody acts in. */
export type Place = "host" | "agent" | "container";

/** What the agent does through its ports. Paths are targets, or sources as the host has them. */
export type AgentOperation =
  | { readonly kind: "inspect"; readonly source: string }
  | { readonly kind: "makeSource"; readonly source: string; readonly of: "directory" | "file" }
  | { readonly kind: "inspectTarget"; readonly target: string }
  | { readonly kind: "makeTarget"; readonly target: string; readonly of: "directory" | "file" }
  | { readonly kind: "removeTarget"; readonly target: string; readonly of: "directory" | "file" }
  /** Fresh: as it is inspected right before; else as it was when it was last inspected. */
  | {
      readonly kind: "bind";
      readonly source: string;
      readonly target: string;
      readonly fresh: boolean;
      readonly attributes: MountAttributes;
    }
  | {
      readonly kind: "mountTmpfs";
      readonly target: string;
      readonly options: readonly string[];
      readonly attributes: MountAttributes;
    }
  /** Layer: of the mounts on the target by the table, the newest is 0; -1 is an id that no mount has. */
  | {
      readonly kind: "setAttributes";
      readonly target: string;
      readonly layer: number;
      readonly attributes: MountAttributes;
    }
  | {
      readonly kind: "reconfigure";
      readonly target: string;
      readonly layer: number;
      readonly options: readonly string[];
    }
  | { readonly kind: "unmount"; readonly target: string; readonly layer: number; readonly unmountMode: UnmountMode }
  /** Of what a target shows; of the place that it is; of the processes that use it. */
  | { readonly kind: "holders"; readonly target: string }
  | { readonly kind: "mountedOn"; readonly target: string }
  | { readonly kind: "users"; readonly target: string }
  | { readonly kind: "makeDirectory"; readonly path: string; readonly mode: number }
  | { readonly kind: "identify"; readonly path: string }
  | { readonly kind: "writePayload"; readonly path: string; readonly files: { readonly [name: string]: string } }
  | { readonly kind: "removeDirectory"; readonly path: string }
  | { readonly kind: "discard"; readonly path: string }
  | { readonly kind: "emptyTrash" };

/** What people and their programs do, in a namespace, with one system call. */
export type PersonCall = { readonly place: Place } & (
  | { readonly kind: "mkdir"; readonly path: string }
  | { readonly kind: "write"; readonly path: string; readonly content: string }
  /** A character device that stands for nothing. */
  | { readonly kind: "mknod"; readonly path: string }
  | { readonly kind: "symlink"; readonly to: string; readonly path: string }
  | { readonly kind: "rmdir"; readonly path: string }
  | { readonly kind: "unlink"; readonly path: string }
  | { readonly kind: "rename"; readonly from: string; readonly to: string }
  | { readonly kind: "foreignTmpfs"; readonly path: string }
  | { readonly kind: "foreignBind"; readonly from: string; readonly to: string; readonly recursive: boolean }
  | { readonly kind: "move"; readonly from: string; readonly to: string }
  | { readonly kind: "umount"; readonly path: string; readonly lazy: boolean }
  | { readonly kind: "remount"; readonly path: string; readonly attributes: MountAttributes }
  | {
      readonly kind: "propagation";
      readonly path: string;
      readonly type: Propagation;
      readonly recursive: boolean;
    }
);

/** A process opens a file, and the one that did so first ends. */
type PersonHolds = { readonly place: Place } & (
  | { readonly kind: "open"; readonly path: string }
  | { readonly kind: "letGo" }
);

export type PersonOperation = PersonCall | PersonHolds;

/** The one container of a sequence: with a directory of the host, or a copy of the host's mounts of its own. */
type ContainerOperation =
  | { readonly kind: "startContainer"; readonly path: string }
  | { readonly kind: "unshareHost" }
  | { readonly kind: "endContainer" };

export type Operation = AgentOperation | PersonOperation | ContainerOperation;

/** A word for each operation, for counting: who does what. */
export function nameOf(operation: Operation): string {
  return "place" in operation ? `${operation.kind} in ${operation.place}` : operation.kind;
}
