import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import * as fs from "node:fs";
import { pidOf } from "../../../hack/lib/pid-of.ts";
import { type Libc, loadLibc } from "../../../src/host/linux/syscall/libc.ts";
import { type KernelCalls, loadKernelCalls, MS } from "./kernel-calls.ts";

/** A mount namespace, with an open table of it. */
export interface RealNamespace {
  readonly fd: number;
  readonly table: number;
}

/**
 * The real kernel: one mount namespace as the node's, in which each world has a tmpfs for its root directory, and one
 * for the agent if that is in a pod. The main thread of this process is the agent; the others stay where they were.
 */
export class RealKernel implements AsyncDisposable {
  readonly calls: KernelCalls = loadKernelCalls();
  readonly libc: Libc = loadLibc();
  readonly base: string;
  readonly host: RealNamespace;
  readonly #before: number;
  readonly #cwd = process.cwd();
  readonly #systemd: ChildProcess;

  /**
   * Threads that are started later would share root and working directory with the main thread, which could then not
   * change its namespace any more: so those that Node starts at its first asynchronous call are started first.
   * @param base an empty directory
   */
  static async at(base: string): Promise<RealKernel> {
    await fs.promises.stat(base);
    return new RealKernel(base);
  }

  private constructor(base: string) {
    this.base = base;
    this.#before = fs.openSync("/proc/self/ns/mnt", "r");
    const fd = this.calls.unshare();
    this.calls.mount("none", "/", "", MS.REC | MS.PRIVATE);
    this.host = { fd, table: this.calls.openTable() };
    this.#systemd = spawn("sleep", ["infinity"], { stdio: "ignore" });
  }

  /** A process in the node's namespace. */
  get hostPid(): number {
    return pidOf(this.#systemd);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const ended = once(this.#systemd, "exit");
    this.#systemd.kill("SIGKILL");
    await ended;
    this.calls.enter(this.#before);
    process.chdir(this.#cwd);
    for (const fd of [this.#before, this.host.fd, this.host.table]) fs.closeSync(fd);
  }
}
