import { type ChildProcess, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import type { Strategy } from "./steps.ts";

/** What the swapper did between start and stop: calls that worked, and calls that the kernel refused. */
export interface Swapped {
  readonly changes: number;
  readonly refused: number;
}

/**
 * A process that changes what paths mean while the code under test walks them. It is in a mount namespace of its own,
 * to which nothing is propagated, as a pod that has the directory mounted is: there it may rename and exchange
 * directories on which something is mounted in the test's namespace, which the kernel refuses in that one (EBUSY).
 */
export class Swapper implements AsyncDisposable {
  readonly #child: ChildProcess;
  readonly #lines: AsyncIterator<string>;

  private constructor(child: ChildProcess, lines: AsyncIterator<string>) {
    this.#child = child;
    this.#lines = lines;
  }

  /** Mounts that are made from now on are not seen by it. */
  static async start(): Promise<Swapper> {
    const main = fileURLToPath(new URL("swapper-main.ts", import.meta.url));
    const args = ["--mount", "--propagation", "private", process.execPath, main];
    const child = spawn("unshare", args, { stdio: ["pipe", "pipe", "inherit"] });
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    const swapper = new Swapper(child, lines);
    await swapper.#line();
    return swapper;
  }

  swap({ steps }: Strategy): void {
    this.#child.stdin?.write(`${JSON.stringify(steps)}\n`);
  }

  /** Resolves when it has stopped, at the end of its steps. */
  async stop(): Promise<Swapped> {
    this.#child.stdin?.write("stop\n");
    return JSON.parse(await this.#line()) as Swapped;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const ended = new Promise((resolve) => this.#child.once("close", resolve));
    this.#child.stdin?.end();
    await ended;
  }

  async #line(): Promise<string> {
    const { value, done } = await this.#lines.next();
    if (done === true) throw new Error("the swapper has ended");
    return value;
  }
}
