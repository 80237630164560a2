import type { MountIdentity } from "../../../src/host/mount-table/mount-table.ts";
import type { Incarnation, Latency } from "../incarnation.ts";
import type { Disk } from "../kernel/disk.ts";
import type { Namespace } from "../kernel/mount.ts";
import type { Process } from "../kernel/processes.ts";
import type { Machine } from "../machine.ts";

/** What the ports of one agent process work on. */
export interface HostDeps {
  readonly machine: Machine;
  /** The agent's mount namespace and process on the machine. */
  readonly namespace: Namespace;
  readonly process: Process;
  readonly incarnation: Incarnation;
  /** Told of each call that an operation on a volume makes, before it is carried out. */
  onCall(call: OperationCall): void;
  /** Told of each table that the agent reads. */
  onTable(): void;
  /** Told right before a disk is formatted. */
  onFormat(disk: Disk): void;
  /** Told of an mkfs that was killed in the middle. */
  onCutOff?(disk: Disk): void;
  /** Told of what is written to the journal. */
  onJournal?(text: string): void;
  /** The volume that a staging path or target belongs to by the journal; of several the one that shows `identity`. */
  volumeAt(path: string, identity?: MountIdentity): string | undefined;
  /** Asked for each event that the kernel tells of: whether it gets lost. */
  losesWake?(): boolean;
  /** Runs something later, whether the agent lives then or not. */
  schedule(ms: number, action: () => void): void;
}

/** A call of one operation, for the invariant that a volume has one operation at a time. */
export interface OperationCall {
  /** Number of the operation within its process. */
  readonly operation: number;
  readonly path: string;
}

/** Microseconds for a system call, milliseconds for a disk or another process. */
export const latency = {
  call: { low: 0.01, high: 0.5 },
  sync: { low: 0.2, high: 3 },
  spawn: { low: 2, high: 10 },
  child: { low: 1, high: 20 },
  mkfs: { low: 200, high: 2000 },
  notice: { low: 0.1, high: 5 },
} as const satisfies { [name: string]: Latency };
