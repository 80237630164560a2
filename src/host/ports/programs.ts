import type { ProbedDevice } from "./block-layers.ts";
import type { RemoteMount } from "./servers.ts";
import type { ChildProcessID } from "./types.ts";

/**
 * Programs that stand on the node and set volumes up by means of their own: vendors' drivers. They run as the node's
 * own programs do: in its mount namespace, whatever the agent's.
 */
export interface Programs {
  /**
   * What tells the program at a path of the node from another that comes in its place; undefined if nothing that may be
   * run is there.
   * @throws VolumeError
   */
  identify(path: string): Promise<string | undefined>;
  /**
   * Runs the program without a shell, in a disposable child that leads a process group of its own. At the deadline the
   * whole group is killed.
   * @throws VolumeError TimedOut, OperationAbandoned: uncertain; ToolMissing
   */
  run(path: string, args: readonly string[], how?: ProgramHow): Promise<ProgramResult>;
}

/** What has to stand on a device: what was seen there (DeviceInfo.contents; undefined: nothing), or anything. */
export type Stands = "anything" | { readonly contents?: string | undefined };

/** How a program of the node is run. */
export interface ProgramHow {
  /** Its standard input: where a secret may stand. It is at most 4 KiB. */
  readonly input?: Uint8Array;
  /**
   * A device that is held open while it runs, so that no other gets its number: one that nobody has, and that is the
   * one that was looked at, with what is to stand on it. Else DeviceBusy, DeviceNotEmpty or SetUpFailed.
   * If the program keeps what is on it, who only reads it does not count.
   */
  readonly device?: ProbedDevice & { readonly stands: Stands; readonly keeps?: true };
  /**
   * It takes long without anything being wrong, and much memory: few of these run beside each other, and outside the
   * agent's container. One that cannot leave that gets 128 MiB and no more.
   */
  readonly heavy?: true;
  /** It takes long without anything being wrong: it reads back swap, and goes on to its deadline whatever is slow. */
  readonly long?: "readBack";
}

/** How a program ended. A code that is not 0 is no error here: the caller knows what it means. */
export interface ProgramResult {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** A program that serves one file system to the kernel from user space (FUSE), and what is said to it. */
export interface ClientStart {
  /** Its name: it is looked for where programs are, never in a PATH. */
  readonly program: string;
  readonly args: readonly string[];
  /** What it is to find at `secretFile`, and nobody else. */
  readonly secret?: string;
  /** Where it is told to write down its pid: one of `args` ends with this. */
  readonly pidFile: string;
  /** Where it is told to say what goes wrong. */
  readonly log: string;
  readonly mount: RemoteMount;
}

/**
 * Where a program finds the secret that it is given: in a file without a name, in memory, that ends with the last
 * process that has it open. A program that makes a daemon of itself keeps it.
 */
export const secretFile = "/proc/self/fd/100";

/**
 * Clients of what is mounted by FUSE. Each serves one mount, goes on in a session of its own when the agent ends, is
 * found again by its pid file, and ends when nothing shows its file system any more.
 */
export interface Clients {
  /**
   * Starts a FUSE client, without a shell. When this resolves, the client has become a daemon; whether it has mounted
   * is shown by the mount table. If it rejects, no part of the client runs.
   * @throws VolumeError ToolMissing, ServerUnreachable; TimedOut and OperationAbandoned: uncertain
   */
  start(request: ClientStart): Promise<ChildProcessID>;
  /** The one that has this pid file, if it runs. */
  running(pidFile: string): Promise<ChildProcessID | undefined>;
  /** Waits for its end. @returns whether it has ended */
  ended(client: ChildProcessID, withinMs: number): Promise<boolean>;
  /** Kills it: what it serves is of no use any more. @throws VolumeError OperationAbandoned, if it does not end */
  kill(client: ChildProcessID): Promise<void>;
  /** What it said last of what goes wrong, for people. */
  lastWords(log: string): Promise<string>;
}
