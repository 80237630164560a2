import { type ChildProcess, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

/** How somebody has a disk open. */
export type Opening = "reads" | "writes" | "claims" | "maps";

export interface DiskExtent {
  /** The file that it is made of, or itself. */
  readonly path: string;
  readonly device: string;
  readonly begin: number;
  readonly end: number;
  readonly places: readonly (readonly [at: number, length: number])[];
}

/** Digests. */
export interface Seen {
  readonly whole: string;
  readonly parts: readonly string[];
}

/** What may be asked of the process, and its answer: somebody.py. */
export interface Questions {
  make(of: { path: string; size: number }): null;
  attach(of: { path: string; device?: string }): string;
  detach(of: { device: string }): null;
  exchange(of: { first: string; second: string; first_file: string; second_file: string }): null;
  open_as(of: { device: string; how: Opening }): number;
  close(of: { id: number }): null;
  write(of: { device: string; at: number; data: string; id?: number }): null;
  copy(of: { path: string; device: string; at?: number }): null;
  mount_hidden(of: { device: string; kind: string; point: string; reads: boolean }): number;
  bind(of: { source: string; point: string }): null;
  unbind(of: { point: string }): null;
  look(of: { disks: readonly DiskExtent[] }): Seen[];
  find(of: { path: string; text: string }): number | null;
  zram(of: { size: number }): string;
  no_zram(of: { device: string }): null;
  partition(of: { device: string; start: number; length: number }): string;
  no_partition(of: { device: string }): null;
}

/** What the kernel did not let somebody do. */
export class Refused extends Error {
  readonly errno: string;

  constructor(errno: string, message: string) {
    super(message);
    this.errno = errno;
  }
}

/**
 * A process beside the agent that uses disks as people, virtual machines and other drivers do, and reads them for the
 * checker.
 */
export class Somebody implements AsyncDisposable {
  readonly #process: ChildProcess;
  readonly #lines: AsyncIterator<string>;

  constructor() {
    const main = fileURLToPath(new URL("somebody.py", import.meta.url));
    const child = spawn("python3", ["-B", main], { stdio: ["pipe", "pipe", "inherit"] });
    this.#process = child;
    this.#lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  }

  get pid(): number {
    return this.#process.pid ?? 0;
  }

  /** @throws Refused by the kernel */
  async ask<K extends keyof Questions>(ask: K, of: Parameters<Questions[K]>[0]): Promise<ReturnType<Questions[K]>> {
    this.#process.stdin?.write(`${JSON.stringify({ ask, ...of })}\n`);
    const { value, done } = await this.#lines.next();
    if (done === true) throw new Error("the process of somebody has ended");
    const answer = JSON.parse(value) as { value: ReturnType<Questions[K]>; errno?: string; message?: string };
    if (answer.errno !== undefined) throw new Refused(answer.errno, `${ask}: ${answer.message}`);
    return answer.value;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const ended = new Promise((resolve) => this.#process.once("close", resolve));
    this.#process.stdin?.end();
    await ended;
  }
}
