import { type ChildProcess, execFileSync, fork } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { execPath } from "node:process";
import { fileURLToPath } from "node:url";
import { parseMountinfo } from "../../../../src/host/mount-table/mountinfo.ts";
import { until } from "../../until.ts";

/** What the server is told. */
export interface Command {
  readonly id: number;
  /** How many more requests it answers; the others it takes, and holds. */
  readonly answer?: number | "all";
  /** Milliseconds before each answer. */
  readonly delayMs?: number;
  /** Number of the error that it answers everything with; 0: it answers. */
  readonly error?: number;
}

/** What the server says. */
export interface Report {
  readonly mounted?: true;
  readonly obeyed?: number;
  /** It has taken a request that it does not answer. */
  readonly holds?: { readonly opcode: number; readonly pid: number };
}

/**
 * A FUSE file system in a process of its own, mounted on an empty directory, that can stop, answer nothing, die and
 * come back. Shows `data/a`, `data/b` and `file`.
 *
 * | | who asks | killed |
 * |---|---|---|
 * | stop() | waits | ends: its request was not taken |
 * | hold() | waits | stays, uninterruptible, until it is answered or the server dies |
 * | die()  | gets ENOTCONN | |
 * | fail() | gets that error | |
 */
export class FuseServer implements AsyncDisposable {
  readonly point: string;
  #process: ChildProcess | undefined;
  #commands = 0;
  #held = 0;

  readonly #program: string;
  readonly #within: number | undefined;

  private constructor(point: string, program: string, within: number | undefined) {
    this.point = point;
    this.#program = program;
    this.#within = within;
  }

  /**
   * @param program a bundle of server-main.ts; from source if there is none
   * @param within a process whose mount namespace it is mounted in; whoever asks for that unmounts it there
   */
  static async start(
    point: string,
    program = fileURLToPath(new URL("server-main.ts", import.meta.url)),
    within?: number,
  ): Promise<FuseServer> {
    const server = new FuseServer(point, program, within);
    await server.#start();
    return server;
  }

  get pid(): number | undefined {
    return this.#process?.pid;
  }

  /** Requests that it has taken and not answered, all in all. */
  get held(): number {
    return this.#held;
  }

  /** SIGSTOP: requests are not even taken. */
  async stop(): Promise<void> {
    const process = this.#running();
    process.kill("SIGSTOP");
    await until("the server to be stopped", 5_000, () => stateOf(process) === "T");
  }

  /** SIGCONT. */
  go(): void {
    this.#running().kill("SIGCONT");
  }

  /** Lives, takes requests, answers only so many more. */
  async hold(after = 0): Promise<void> {
    await this.#command({ answer: after });
  }

  /** Answers everything again, and what it has held. */
  async resume(): Promise<void> {
    await this.#command({ answer: "all" });
  }

  async slow(delayMs: number): Promise<void> {
    await this.#command({ delayMs });
  }

  /** Answers everything with this error from now on. @param errno its number; 0: answers again */
  async fail(errno: number): Promise<void> {
    await this.#command({ error: errno });
  }

  /** SIGKILL: whoever asks gets ENOTCONN; the mount stays. */
  async die(): Promise<void> {
    const process = this.#process;
    this.#process = undefined;
    if (process === undefined || process.exitCode !== null || process.signalCode !== null) return;
    process.kill("SIGKILL");
    await once(process, "exit");
  }

  /** A new server on the same directory, after the dead mount was taken away. */
  async comeBack(): Promise<void> {
    await this.die();
    execFileSync("umount", ["-l", this.point]);
    await this.#start();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.die();
    const mounted = parseMountinfo(readFileSync("/proc/self/mountinfo", "utf8")).some((m) => m.point === this.point);
    if (mounted) execFileSync("umount", ["-l", this.point]);
  }

  async #start(): Promise<void> {
    const enter = [`--mount=/proc/${this.#within}/ns/mnt`, "--", execPath];
    const there = this.#within === undefined ? {} : { execPath: "nsenter", execArgv: enter };
    const process = fork(this.#program, [this.point], { stdio: ["ignore", "inherit", "inherit", "ipc"], ...there });
    this.#process = process;
    process.on("message", (report: Report) => {
      if (report.holds !== undefined) this.#held++;
    });
    await this.#report(process, (report) => report.mounted === true);
  }

  async #command(command: Omit<Command, "id">): Promise<void> {
    const process = this.#running();
    const id = ++this.#commands;
    const obeyed = this.#report(process, (report) => report.obeyed === id);
    process.send({ id, ...command });
    await obeyed;
  }

  #report(process: ChildProcess, wanted: (report: Report) => boolean): Promise<void> {
    return new Promise((resolve, reject) => {
      const ended = () => reject(new Error("the FUSE server has ended"));
      const heard = (report: Report) => {
        if (!wanted(report)) return;
        process.off("exit", ended).off("message", heard);
        resolve();
      };
      process.once("exit", ended).on("message", heard);
    });
  }

  #running(): ChildProcess {
    if (this.#process === undefined) throw new Error("the FUSE server is dead");
    return this.#process;
  }
}

/** One letter, as in ps(1). */
function stateOf({ pid }: ChildProcess): string | undefined {
  const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
  return stat.slice(stat.lastIndexOf(")") + 2)[0];
}
