import { Socket } from "node:net";
import { unlessErrno } from "../syscall/errno.ts";
import type { Ending } from "../syscall/process-ending.ts";
import { closeAll, loadSpawnCalls, type SpawnCalls } from "../syscall/spawn-calls.ts";

/** A program to start. */
export interface Program {
  readonly file: string;
  readonly args: readonly string[];
  /** As NAME=VALUE. */
  readonly env: readonly string[];
}

/** By pid, whose end is to be told. SIGCHLD says that a child has ended, and not which. */
const running = new Map<number, (ending: Ending) => void>();
let calls: SpawnCalls | undefined;

/** Listens before the first child is started: what ends before that would never be told. */
function loadOnce(): SpawnCalls {
  if (calls !== undefined) return calls;
  const loaded = loadSpawnCalls();
  process.on("SIGCHLD", () => {
    for (const [pid, tell] of [...running]) {
      const ending = loaded.reap(pid);
      if (ending === undefined) continue;
      running.delete(pid);
      tell(ending);
    }
  });
  calls = loaded;
  return loaded;
}

/**
 * A process of ours, with a pipe to each of its standard streams. As node:child_process, but by posix_spawn(3): a
 * fork(2), as libuv does, copies the page tables of the agent, and each page that is written to afterwards has to be
 * made writable again. With 128 MB that is 4 ms at once and up to 16 ms later, of the thread that mounts, against 0.2
 * ms.
 */
export class SpawnedProcess {
  readonly pid: number;
  readonly stdin: Socket;
  readonly stdout: Socket;
  readonly stderr: Socket;
  /** Resolves once it has ended and what it wrote was read. */
  readonly ended: Promise<Ending>;
  #killed = false;

  /** @throws Errno if it could not be started */
  constructor({ file, args, env }: Program) {
    const { spawn, socketPair } = loadOnce();
    const ours: number[] = [];
    const theirs: number[] = [];
    try {
      for (let stream = 0; stream < 3; stream++) {
        const [our, their] = socketPair();
        ours.push(our);
        theirs.push(their);
      }
      this.pid = spawn(file, args, env, theirs);
    } catch (error) {
      closeAll(ours);
      throw error;
    } finally {
      closeAll(theirs);
    }
    const { promise: exited, resolve } = Promise.withResolvers<Ending>();
    running.set(this.pid, resolve);
    const [input, output, errors] = ours as [number, number, number];
    this.stdin = new Socket({ fd: input, readable: false, writable: true });
    this.stdout = new Socket({ fd: output, readable: true, writable: false });
    this.stderr = new Socket({ fd: errors, readable: true, writable: false });
    this.ended = this.#allOf(exited);
  }

  /** Whether it has not ended, as far as was heard. */
  get isRunning(): boolean {
    return running.has(this.pid);
  }

  /**
   * Ends it and what it has started, but for what has left its group. Of one that has ended already nobody is: its pid
   * may be another's. Then nothing is waited for any more that it has left behind with its output.
   */
  kill(signal: "SIGKILL"): void {
    this.#killed = true;
    if (!this.isRunning) this.#close();
    // Until it was reaped the pid is its own, and its group's; which it may have left for another.
    else for (const whom of [-this.pid, this.pid]) unlessErrno(["ESRCH"], () => process.kill(whom, signal));
  }

  #close(): void {
    for (const stream of [this.stdin, this.stdout, this.stderr]) stream.destroy();
  }

  /** @param held whether this process stays for what it may still write */
  hold(held: boolean): this {
    for (const stream of [this.stdin, this.stdout, this.stderr]) {
      if (held) stream.ref();
      else stream.unref();
    }
    return this;
  }

  async #allOf(exited: Promise<Ending>): Promise<Ending> {
    const closed = [this.stdout, this.stderr].map(
      (stream) => new Promise<void>((resolve) => stream.once("close", () => resolve())),
    );
    const ending = await exited;
    this.stdin.destroy();
    if (this.#killed) this.#close();
    for (const stream of [this.stdout, this.stderr]) if (!stream.readableFlowing) stream.resume();
    await Promise.all(closed);
    return ending;
  }
}
