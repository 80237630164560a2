import { once } from "node:events";
import { openSync, readlinkSync } from "node:fs";
import type { Timers } from "../../../ports.ts";
import { replyIn } from "../child/child-reply.ts";
import { SpawnedProcess } from "../child/spawned-process.ts";
import { CLONE_FS, CLONE_NEWNS } from "../syscall/constants.ts";
import { Descriptor } from "../syscall/descriptor.ts";
import { unlessGone } from "../syscall/errno.ts";
import type { SandboxCalls } from "../syscall/sandbox-calls.ts";

/**
 * Processes of ours that are in a namespace only for its mount table to be read: nobody uses anything there by them.
 */
const readers = new Set<number>();

/** Characters that are kept of what a child says. */
const longest = 1_000;
/** A child starts in 50 ms, and opens nothing that could hang. */
const withinMs = 10_000;

/** Our own program in the role `child`, and the clock by which it is given up. */
export interface EnteringChild {
  readonly command: readonly [string, ...string[]];
  readonly timers: Timers;
}

/** Whether a process is a child of ours that is in a mount namespace only to read its table: no user of mounts. */
export function onlyReads(pid: number): boolean {
  return readers.has(pid);
}

/**
 * A child of ours in a mount namespace that no process is in: /proc shows by it what is mounted there, on any kernel.
 */
export class EnteredNamespace implements AsyncDisposable {
  readonly #child: SpawnedProcess;
  readonly #timers: Timers;

  /** @throws Errno if it could not be started */
  constructor({ command: [file, ...args], timers }: EnteringChild) {
    this.#timers = timers;
    this.#child = new SpawnedProcess({ file, args, env: ["PATH=/usr/sbin:/usr/bin:/sbin:/bin"] });
    readers.add(this.#child.pid);
  }

  /** As /proc has the process. */
  get thread(): string {
    return `/proc/${this.#child.pid}`;
  }

  /** @returns why it is not there */
  async enter({ fd }: Descriptor, name: string): Promise<string | undefined> {
    const { stdin, stdout, stderr, ended } = this.#child;
    let said = "";
    let replied = "";
    stderr.setEncoding("utf8").on("data", (text: string) => {
      said = (said + text).slice(-longest);
    });
    stdout.setEncoding("utf8").on("data", (text: string) => {
      replied += text;
    });
    stdin.on("error", () => {}); // it has ended: said below
    stdin.write(`${JSON.stringify({ kind: "enterNamespace", path: `/proc/${process.pid}/fd/${fd}` })}\n`);
    if (await this.#isLate(Promise.race([once(stdout, "data"), ended])))
      return `a child process did not enter it within ${withinMs / 1_000} s`;
    if (unlessGone(() => readlinkSync(`${this.thread}/ns/mnt`)) === name) return undefined;
    this.#child.kill("SIGKILL");
    await ended;
    const reply = replyIn(replied);
    return `a child process could not enter it: ${reply?.ok === false ? reply.error.message : said.trim()}`;
  }

  async #isLate(said: Promise<unknown>): Promise<boolean> {
    let cancel = () => {};
    const late = new Promise<true>((resolve) => {
      cancel = this.#timers.after(withinMs, () => resolve(true));
    });
    try {
      return await Promise.race([said.then(() => false), late]);
    } finally {
      cancel();
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#child.kill("SIGKILL");
    await this.#child.ended;
    readers.delete(this.#child.pid);
  }
}

/** In the child, which stays there until its input ends, as it does with the agent. */
export function enterNamespace(path: string, calls: Pick<SandboxCalls, "unshare" | "setns">): void {
  using file = new Descriptor(openSync(path, "r"));
  calls.unshare(CLONE_FS); // makes root and working directory this thread's own, without which it may not go elsewhere
  calls.setns(file.fd, CLONE_NEWNS);
}
