import type { RemoteMount } from "./remote-mount.ts";
import type { ChildProcessID } from "./types.ts";

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
