import type { VolumeError, WaitingOn } from "../../../errors.ts";
import type { Holder, Mounter } from "../../ports/host-ports.ts";
import type { UnpackRequest } from "../../ports/images.ts";
import type { ISCSILogin } from "../../ports/iscsi.ts";
import type { OwnershipRequest, OwnershipResult } from "../../ports/ownership.ts";
import type { Stands } from "../../ports/programs.ts";
import type { CheckOutRequest } from "../../ports/repositories.ts";
import type { ChildProcessID } from "../../ports/types.ts";

/** What a child process is asked with, and what it replies. */
interface Call<Request, Reply = void> {
  readonly request: Request;
  readonly reply: Reply;
}

/** What a disposable child process does itself, and replies to, by the kind of the request. */
export interface ChildCalls {
  readonly emptyTrash: Call<{ readonly path: string }, TrashLeft>;
  readonly openers: Call<{ readonly deviceNumbers: readonly string[] }, readonly Holder[]>;
  readonly users: Call<{ readonly mountPoint: string }, readonly Holder[]>;
  /** The child stays in the namespace until its input ends. */
  readonly enterNamespace: Call<{ readonly path: string }>;
  readonly claimed: Call<{ readonly path: string; readonly deviceNumbers: readonly string[] }, Claimed>;
  readonly probe: Call<{ readonly path: string }, BlockProbe>;
  /** Writes to an attribute of sysfs by which the kernel is told to do something. */
  readonly sysfs: Call<{ readonly file: string; readonly text: string }>;
  readonly iscsi: Call<{ readonly request: ISCSIRequest }, ISCSIOutcome>;
  readonly removeDisk: Call<{ readonly disk: RemovedDisk }>;
  readonly wipe: Call<{ readonly device: WrittenDevice; readonly digest: string }>;
  readonly giveToGroup: Call<{ readonly request: OwnershipRequest; readonly agent: number }, OwnershipResult>;
  readonly checkOut: Call<{ readonly request: CheckOutRequest } & FetchingWork>;
  readonly unpack: Call<{ readonly request: UnpackRequest } & FetchingWork>;
  readonly rbd: Call<{ readonly file: string; readonly text: string; readonly meant?: ExpectedDevice }>;
  readonly nbdClient: Call<{ readonly query: NBDClientQuery }, ChildProcessID | undefined>;
  /** @see LinuxClients.running */
  readonly client: Call<{ readonly pid: number; readonly pidFile: string }, ChildProcessID | undefined>;
  readonly mounter: Call<{ readonly method: keyof Mounter; readonly args: readonly unknown[] }, unknown>;
}

/** Becomes the program that was asked for. */
type Become = () => never;

/**
 * Programs that a child becomes once its own checks have passed: only if one fails, or the program cannot be asked for
 * (become), it replies, with refusedCode. If the kernel then refuses to start it, a signal ends the child.
 */
interface ChildPrograms {
  readonly format: Call<
    {
      readonly device: WrittenDevice;
      /** What stands on it, if that is the rest of a file system that was begun; else it has to be empty. */
      readonly contents?: string;
      /** mkfs and its options; the device is added. */
      readonly file: string;
      readonly args: readonly string[];
    },
    Become
  >;
  readonly check: Call<
    { readonly device: WrittenDevice; readonly file: string; readonly args: readonly string[] },
    Become
  >;
  readonly exec: Call<
    {
      readonly file: string;
      readonly args: readonly string[];
      readonly path?: string;
      /** What it reads, as base64. */
      readonly input?: string;
      /** ProgramHow.device */
      readonly device?: HeldDevice;
      /** It is not run, if this device is not the one any more. */
      readonly meant?: ExpectedDevice;
      readonly heavy?: true;
      readonly long?: "readBack";
      /** Of the program, beside PATH: here a secret may stand, which reaches the child by its input. */
      readonly env?: { readonly [name: string]: string };
      readonly secret?: string; // what the program finds at secretFile
      readonly outlives?: { readonly hostRoot: string }; // it leaves the agent's container (leave-cgroup.ts)
    },
    Become
  >;
}

type Calls = ChildCalls & ChildPrograms;

/** The request of a kind, and that of any kind. */
export type RequestOf<K extends keyof Calls> = { [Kind in K]: { readonly kind: Kind } & Calls[Kind]["request"] }[K];
export type ChildRequest = RequestOf<keyof Calls>;

/** How the child carries each kind of request out. What is thrown is the error of its reply. */
export type ChildHandlers = {
  readonly [K in keyof Calls]: (request: RequestOf<K>) => Calls[K]["reply"] | Promise<Calls[K]["reply"]>;
};

/** What a child has replied: the last line of its output, as JSON. */
export type ChildReply<K extends keyof ChildCalls = keyof ChildCalls> =
  | { readonly ok: true; readonly value: ChildCalls[K]["reply"] }
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

/** Exit code of a child whose reply is an error: it was not done, or failed. Neither mkfs, e2fsck nor Node has it. */
export const refusedCode = 75;

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

/** A device by its number, which another gets as soon as it is gone, and by what it says of itself. */
export interface ExpectedDevice {
  /** Its attribute of sysfs. */
  readonly file: string;
  /** What stands there, but for the key. */
  readonly text: string;
}

/** A SCSI disk that a child is to take off the node, as it was when it was looked at. */
export interface RemovedDisk {
  /** Its node. */
  readonly path: string;
  /** `major:minor` */
  readonly deviceNumber: string;
  /** `host:channel:target:lun` */
  readonly address: string;
  readonly wwid?: string;
  /** It is only asked whether it could go. */
  readonly stays?: true;
}

/** What a child has iscsiadm do. Passwords reach it by its input, iscsiadm by a file in memory: never by arguments. */
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

/** Who has a device, as a child has found it. */
interface Claimed {
  readonly claimed: boolean;
  /** Who in the kernel has it, or a partition of it, without a claim, or may have (possibleKernelUsers). */
  readonly inKernel?: string;
}

/** What the device itself says, read in a child because a broken disk may not answer. */
export interface BlockProbe {
  readonly sizeBytes: number;
  /**
   * Of the bytes in sampledRegions: 16 hexadecimal digits. Undefined if that is nothing but zeros.
   */
  readonly digest?: string;
  readonly users?: DeviceUsers;
  /** DeviceInfo.journalLeft */
  readonly journalLeft: boolean;
  /** DeviceInfo.journalElsewhere */
  readonly journalElsewhere?: true;
  /** DeviceInfo.swapBytes */
  readonly swapBytes?: number;
}

/** Why nobody else may use a device. */
export interface DeviceUsers {
  /** Who has it, for people. */
  readonly text: string;
  /** Processes whose end may let it go. */
  readonly heldBy: readonly number[];
  /**
   * They only read it, or cannot be seen: what is on it may be mounted beside them, but nothing is made in its place.
   */
  readonly allowsMount?: true;
}

/** What could not be removed from the trash. */
export interface TrashLeft {
  readonly count: number;
  /** The first few of them: path beneath the trash, and why. */
  readonly examples: readonly string[];
}
