import type { UnpackRequest } from "../images.ts";
import type { OwnershipRequest } from "../ownership.ts";
import type { Mounter } from "../ports.ts";
import type { CheckOutRequest } from "../repositories.ts";
import type { WrittenDevice } from "./device-writes.ts";
import type { HeldDevice } from "./held-device.ts";
import type { ISCSIRequest } from "./iscsi-child.ts";
import type { MeantDevice } from "./meant-device.ts";
import type { NBDClientQuery } from "./nbd-clients.ts";
import type { RemovedDisk } from "./scsi-remove.ts";

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
  | { readonly kind: "checkOut"; readonly request: CheckOutRequest; readonly agent: number }
  | { readonly kind: "unpack"; readonly request: UnpackRequest; readonly agent: number }
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
      readonly outlives?: { readonly hostRoot: string }; // it leaves the agent's container (leave-pod.ts)
    };
