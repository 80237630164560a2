import { readFileSync } from "node:fs";
import { isAbandoned, messageOf, VolumeError } from "../../../errors.ts";
import type { Cancel, Timers } from "../../../ports.ts";
import type { OperationContext } from "../../ports/host-ports.ts";
import { describeRemote, type RemoteMount, serverOf, waitedFor } from "../../ports/servers.ts";
import type { ChildProcessID } from "../../ports/types.ts";
import { errnoOf } from "../syscall/errno.ts";
import type { Ending } from "../syscall/process-ending.ts";
import type { ChildRequest } from "./child-protocol.ts";
import { type ChildSlot, ChildSlots, type ChildWork } from "./child-slots.ts";
import { ChildStarter } from "./child-starter.ts";
import { LineReader } from "./line-reader.ts";
import type { SpawnedProcess } from "./spawned-process.ts";

/** How a child process ended by itself. */
export interface ChildResult {
  /** Exit code; 128 + signal number is not used: a child that a signal ended rejects with EndedBySignal. */
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Something else than its deadline ended a child process: what it was told may have been done. */
export class EndedBySignal extends VolumeError {
  /** As SIGKILL. */
  readonly signal: string | null;

  constructor({ signal, stderr }: Ended) {
    super("SetUpFailed", "uncertain", `a child process was ended by ${signal}: ${stderr.trim()}`);
    this.signal = signal;
  }
}

/** How it ended, and what it wrote. */
interface Ended extends Ending {
  readonly stdout: string;
  readonly stderr: string;
}

/** Dependencies of running children. `command` is this same program, as a child makes calls that may never return. */
export interface ChildRunnerDeps {
  readonly timers: Timers;
  /** Our own program in the role `child`. */
  readonly command: readonly [string, ...string[]];
}

const outputLimit = 64 * 1024;
const killGraceMs = 1000;
/** Milliseconds after which people are told what a child waits for: nothing that answers takes as long. */
const tellMs = 3_000;

/** Options of a child process besides its request. */
export interface ChildOptions {
  /** The mount that it may have to wait for. */
  readonly waitsFor?: RemoteMount;
  /** Called with each line that it writes. */
  readonly onLine?: (line: string) => void;
  /** Its deadline begins anew with each line that it writes. */
  readonly writesWhileWell?: boolean;
  /** Milliseconds after which it is killed, whatever it writes. */
  readonly atMostMs?: number;
  /** When it is aborted, the child is killed: uncertain. */
  readonly unwanted?: AbortSignal;
}

/**
 * Runs in a process of its own whatever may hang. The child waits until it is told what to do, so that the caller can
 * put it into the journal first. At the deadline it is killed; if even that does not end it, because the kernel holds
 * it, it is abandoned: its effect may still happen.
 */
export class ChildRunner {
  readonly #deps: ChildRunnerDeps;
  readonly #slots: ChildSlots;
  readonly #starter: ChildStarter;
  readonly #onEnded = new Set<() => void>();

  constructor(deps: ChildRunnerDeps) {
    this.#deps = deps;
    this.#slots = new ChildSlots(deps);
    this.#starter = new ChildStarter(deps);
  }

  /** Ends the child that waits to be needed. Those that are at work go on. */
  close(): void {
    this.#starter.close();
  }

  /** Calls back whenever a child has ended, and its slot is free. */
  onEnded(tell: () => void): Cancel {
    this.#onEnded.add(tell);
    return () => this.#onEnded.delete(tell);
  }

  async run(request: ChildRequest, operation: OperationContext, options: ChildOptions = {}): Promise<ChildResult> {
    const server = options.waitsFor && serverOf(options.waitsFor);
    const slot = await this.#slots.acquire({ volume: operation.volume, server, kind: takesLong(request) });
    try {
      return await this.#run(request, operation, slot, options);
    } catch (error) {
      if (isAbandoned(error))
        slot.abandon(); // released when it ends after all
      else slot.release();
      throw error;
    }
  }

  async #run(
    request: ChildRequest,
    operation: OperationContext,
    slot: ChildSlot,
    options: ChildOptions,
  ): Promise<ChildResult> {
    const child = this.#start(operation.volume !== undefined);
    let lines = 0;
    const ended = collect(child, (line) => {
      lines++;
      slot.heard();
      options.onLine?.(line);
    });
    const written = options.writesWhileWell === true ? () => lines : () => 0;
    void ended.then(() => {
      slot.release();
      for (const tell of [...this.#onEnded]) tell();
    });
    let id: ChildProcessID;
    try {
      id = { pid: child.pid, startTime: startTimeOf(child.pid) };
      await operation.onChild(id);
    } catch (error) {
      child.kill("SIGKILL");
      await ended;
      throw error;
    }
    child.stdin.on("error", () => child.kill("SIGKILL")); // it died before it was told; `ended` says how
    slot.begin();
    child.stdin.end(`${JSON.stringify(request)}\n`);
    const { waitsFor, unwanted } = options;
    const kill = () => child.kill("SIGKILL");
    if (unwanted?.aborted === true) kill();
    unwanted?.addEventListener("abort", kill);
    void ended.then(() => unwanted?.removeEventListener("abort", kill));
    const tell = () => operation.onSlow?.({ child: id, ...(waitsFor && { waitsFor }) });
    const told = takesLong(request) !== undefined ? () => {} : this.#deps.timers.after(tellMs, tell);
    void ended.then(told);
    const cutShort = Promise.race([slot.crowdedOut, this.#after(options.atMostMs, ended)]);
    return this.#within({ deadlineMs: operation.deadlineMs, cutShort, written }, child, ended, waitsFor);
  }

  #start(again: boolean): SpawnedProcess {
    try {
      return this.#starter.start(again);
    } catch (error) {
      if (errnoOf(error) === undefined) throw error;
      throw new VolumeError("SetUpFailed", "transient", `a child process did not start: ${messageOf(error)}`);
    }
  }

  async #within(
    { deadlineMs, cutShort, written }: { deadlineMs: number; cutShort: Promise<number>; written: () => number },
    child: SpawnedProcess,
    ended: Promise<Ended>,
    waitsFor: RemoteMount | undefined,
  ): Promise<ChildResult> {
    let before: number;
    let result: Ended | number | undefined;
    do {
      before = written();
      result = await Promise.race([this.#atMost(deadlineMs, ended), cutShort]);
    } while (result === undefined && written() > before);
    if (typeof result === "object") return byItself(result);
    child.kill("SIGKILL");
    const seconds = Math.round((result ?? deadlineMs) / 1000);
    const killed = await this.#atMost(killGraceMs, ended);
    if (killed !== undefined) {
      const from = waitsFor === undefined ? "" : ` from ${describeRemote(waitsFor)}`;
      const options = waitsFor === undefined ? {} : { on: waitedFor(waitsFor) };
      throw new VolumeError("TimedOut", "uncertain", `no answer within ${seconds} s${from}`, options);
    }
    const whom = waitsFor === undefined ? "a device or server" : describeRemote(waitsFor);
    const message = `process ${child.pid} does not end, even killed: the kernel waits for ${whom}`;
    throw new VolumeError("OperationAbandoned", "uncertain", message, {
      on: { kind: "Process", name: `${child.pid}` },
    });
  }

  /** Resolves with so many milliseconds after them, if it has not ended by then. */
  #after(ms: number | undefined, ended: Promise<unknown>): Promise<number> {
    const { promise, resolve } = Promise.withResolvers<number>();
    if (ms === undefined) return promise;
    const cancel = this.#deps.timers.after(ms, () => resolve(ms));
    void ended.then(cancel);
    return promise;
  }

  /** What `ended` resolves with, or undefined after some milliseconds. */
  #atMost<T>(ms: number, ended: Promise<T>): Promise<T | undefined> {
    return new Promise((resolve) => {
      const cancel = this.#deps.timers.after(ms, () => resolve(undefined));
      void ended.then((result) => {
        cancel();
        resolve(result);
      });
    });
  }
}

/** As what it takes minutes without anything being wrong. */
export function takesLong(request: ChildRequest): ChildWork["kind"] {
  if (["giveToGroup", "checkOut", "unpack"].includes(request.kind)) return "walk";
  if (request.kind === "exec") return request.heavy === true ? "derive" : request.long;
  return request.kind === "format" || request.kind === "check" ? request.kind : undefined;
}

/** Start time in clock ticks since boot: field 22 of /proc/PID/stat. */
export function startTimeOf(pid: number, proc: string = "/proc"): number {
  const stat = readFileSync(`${proc}/${pid}/stat`, "latin1");
  return Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19]);
}

/** @throws EndedBySignal */
function byItself(ended: Ended): ChildResult {
  const { code, stdout, stderr } = ended;
  if (code === null) throw new EndedBySignal(ended);
  return { code, stdout, stderr };
}

/** Resolves when the child has ended. */
async function collect(child: SpawnedProcess, onLine: (line: string) => void): Promise<Ended> {
  const output = { stdout: "", stderr: "" };
  const lines = { stdout: new LineReader(onLine, outputLimit), stderr: new LineReader(onLine, outputLimit) };
  for (const name of ["stdout", "stderr"] as const) {
    child[name].setEncoding("utf8").on("data", (text: string) => {
      output[name] = (output[name] + text).slice(-outputLimit - 1);
      lines[name].read(text);
    });
  }
  const ending = await child.ended;
  for (const name of ["stdout", "stderr"] as const) lines[name].end();
  return { ...ending, stdout: wholeLines(output.stdout), stderr: wholeLines(output.stderr) };
}

/** What was longer begins with a whole line: half a secret would not be known for one. */
function wholeLines(text: string): string {
  return text.length > outputLimit ? text.replace(/^.*[\r\n]*/, "") : text;
}
