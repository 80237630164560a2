import type { VolumeError, WaitingOn } from "../../../errors.ts";
import type { Mounter } from "../../ports/host-ports.ts";
import type { UnpackRequest } from "../../ports/images.ts";
import type { ISCSILogin } from "../../ports/iscsi.ts";
import type { OwnershipRequest } from "../../ports/ownership.ts";
import type { Stands } from "../../ports/programs.ts";
import type { CheckOutRequest } from "../../ports/repositories.ts";
import type { MeantDevice } from "../rbd/meant-device.ts";
import type { RemovedDisk } from "../scsi/scsi-remove.ts";

/** What a disposable child is told to do: a piece of work of ours, or to become another program. */
export type ChildRequest =
  | { readonly kind: "emptyTrash"; readonly path: string }
  | { readonly kind: "openers"; readonly deviceNumbers: readonly string[] }
  | { readonly kind: "users"; readonly mountPoint: string }
  | { readonly kind: "enterNamespace"; readonly path: string }
  | { readonly kind: "claimed"; readonly path: string; readonly deviceNumbers: readonly string[] }
  | { readonly kind: "probe"; readonly path: string }
  /** Writes to an attribute of sysfs by which the kernel is told to do something. */
  | { readonly kind: "sysfs"; readonly file: string; readonly text: string }
  | { readonly kind: "iscsi"; readonly request: ISCSIRequest }
  | { readonly kind: "removeDisk"; readonly disk: RemovedDisk }
  | { readonly kind: "wipe"; readonly device: WrittenDevice; readonly digest: string }
  | {
      readonly kind: "format";
      readonly device: WrittenDevice;
      /** What stands on it, if that is the rest of a file system that was begun; else it has to be empty. */
      readonly contents?: string;
      /** mkfs and its options; the device is added. */
      readonly file: string;
      readonly args: readonly string[];
    }
  | { readonly kind: "check"; readonly device: WrittenDevice; readonly file: string; readonly args: readonly string[] }
  | { readonly kind: "giveToGroup"; readonly request: OwnershipRequest; readonly agent: number }
  | ({ readonly kind: "checkOut"; readonly request: CheckOutRequest } & FetchingWork)
  | ({ readonly kind: "unpack"; readonly request: UnpackRequest } & FetchingWork)
  | { readonly kind: "rbd"; readonly file: string; readonly text: string; readonly meant?: MeantDevice }
  | { readonly kind: "nbdClient"; readonly query: NBDClientQuery }
  /** @see LinuxClients.running */
  | { readonly kind: "client"; readonly pid: number; readonly pidFile: string }
  | { readonly kind: "mounter"; readonly method: keyof Mounter; readonly args: readonly unknown[] }
  | {
      readonly kind: "exec";
      readonly file: string;
      readonly args: readonly string[];
      readonly path?: string;
      /** What it reads, as base64. */
      readonly input?: string;
      /** ProgramHow.device */
      readonly device?: HeldDevice;
      /** It is not run, if this device is not the one any more. */
      readonly meant?: MeantDevice;
      readonly heavy?: true;
      readonly long?: "readBack";
      /** Of the program, beside PATH: here a secret may stand, which reaches the child by its input. */
      readonly env?: { readonly [name: string]: string };
      readonly secret?: string; // what the program finds at secretFile
      readonly outlives?: { readonly hostRoot: string }; // it leaves the agent's container (leave-cgroup.ts)
    };

interface FetchingWork {
  /** Pid of the agent: without it the work ends. */
  readonly agent: number;
  /** Whether the child was started confined (start-confined.ts). */
  readonly confined?: true;
}

/** The device that a child is to write to, as it was when it was looked at. */
export interface WrittenDevice {
  readonly path: string;
  /** `major:minor` */
  readonly deviceNumber: string;
  readonly identity?: string;
}

/** A device that a program is to have, and what has to stand on it. */
export interface HeldDevice extends WrittenDevice {
  readonly stands: Stands;
  readonly keeps?: true;
}

/**
 * What a child is to have iscsiadm do. Passwords reach it by its input, and iscsiadm by a file in memory: never by
 * arguments.
 */
export type ISCSIRequest = {
  /** A process in the node's mount namespace, if the agent is not in it. */
  readonly nodeProcess?: number;
} & ({ readonly login: ISCSILogin } | { readonly logout: { readonly number: number; readonly interface: string } });

/** How far it got: a step that failed with this exit code of iscsiadm, or what the node lacks. */
export type ISCSIOutcome =
  | { readonly step: "done" }
  | { readonly step: "discover" | "login" | "logout"; readonly code: number; readonly said: string }
  | { readonly step: "target"; readonly said: string }
  | { readonly step: "missing"; readonly what: "iscsiadm" | "interface" | "database" };

/** Which rbd-nbd client is looked for. */
export interface NBDClientQuery {
  readonly cookie: string;
  /** Of its device, if it has one: nbd0. */
  readonly disk?: string;
  /** The node's root as this process sees it. */
  readonly hostRoot: string;
}

/** How a child says what became of its one call of the mounter. */
export type ChildReply =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly error: ChildError };

/** An error of a child process, as it crosses the pipe: what a VolumeError needs. */
export interface ChildError {
  readonly message: string;
  readonly reason?: VolumeError["reason"];
  readonly errorClass?: VolumeError["errorClass"];
  readonly on?: WaitingOn;
  readonly heldBy?: readonly number[];
  /** Name of the errno, if a system call failed and nothing more is known. */
  readonly code?: string;
}
