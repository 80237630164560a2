import { type ChildProcess, execFileSync, fork } from "node:child_process";
import { EventEmitter, once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { NodeVolumeIntent, NodeVolumeIntentStatus } from "../../../src/api/types.gen.ts";
import type { PodPublish, PodTarget } from "../../../src/csi/server/ports.ts";
import { isBeneath } from "../../../src/host/mount-table/mount-table.ts";
import { type MountEntry, parseMountinfo } from "../../../src/host/mount-table/mountinfo.ts";
import { whileWaitingFor } from "../lanes/waits.ts";
import { testDeadline } from "../test-deadline.ts";
import type { AgentOptions, Order, PodFailure, SecretOrder, Word } from "./agent-words.ts";
import type { Programs } from "./programs.ts";

const startMs = 20_000;

/**
 * The agent as production has it, on the real kernel, in a process of its own that can be killed; its API server is a
 * fake in that process. On a shared tmpfs of its own: `mnt` is the prefix, `state` the state directory, `kubelet`
 * kubelet's, `src` is free.
 */
export class KernelAgent implements AsyncDisposable {
  readonly path: string;
  /** What the statuses said last. */
  readonly statuses = new Map<string, NodeVolumeIntentStatus>();
  /** Errors that agents of this node have logged. */
  readonly errors: string[] = [];
  /** Told of each status, last of all. */
  onStatus: (name: string, status: NodeVolumeIntentStatus) => void = () => {};
  /**
   * Told of what the agent prints, which is ours if nobody wants it; and with `tellsAll`, of all that it writes to the
   * API server, and its metrics.
   */
  onOutput: ((where: "log" | "API" | "metrics", text: string) => void) | undefined;
  /** Arguments of Node, for what is measured: as the image starts it. */
  nodeArguments: readonly string[] = [];
  /** A program that becomes Node, with its arguments: as setpriv, which takes rights away. */
  startedBy: readonly [string, ...string[]] | undefined;
  readonly #attempts = new Map<string, number>();
  readonly #intents = new Map<string, NodeVolumeIntent>();
  readonly #heard = new EventEmitter().setMaxListeners(0);
  readonly #programs: Pick<Programs, "agent" | "child">;
  readonly #options: Partial<AgentOptions>;
  readonly #answers = new Map<number, (failed: PodFailure | undefined) => void>();
  #calls = 0;
  #process: ChildProcess | undefined;

  /** @param options may depend on the agent's directory */
  constructor(
    programs: Pick<Programs, "agent" | "child">,
    options: (path: string) => Partial<AgentOptions> = () => ({}),
  ) {
    this.path = mkdtempSync(join(tmpdir(), "nvo-agent-"));
    this.#programs = programs;
    this.#options = options(this.path);
    execFileSync("mount", ["-t", "tmpfs", "-o", "mode=0755", "agent", this.path]);
    execFileSync("mount", ["--make-shared", this.path]);
    for (const directory of ["mnt", "state", "kubelet/pods", "src"])
      mkdirSync(join(this.path, directory), { recursive: true });
  }

  /** A path that mounts are allowed on. */
  target(name: string): string {
    return `${this.path}/mnt/${name}`;
  }

  /** The agent's own process id. */
  get pid(): number {
    return this.#process?.pid ?? 0;
  }

  async start(): Promise<void> {
    const options: AgentOptions = {
      stateDir: `${this.path}/state`,
      kubeletDir: `${this.path}/kubelet`,
      prefixes: [`${this.path}/mnt`],
      deadlineMs: 120_000,
      childCommand: [process.execPath, ...this.#programs.child],
      ...{ log: false, tellsAll: false },
      ...this.#options,
      intents: [...this.#intents.values()].map((intent) => ({ ...intent, ...this.#statusOf(intent) })),
    };
    const output = this.onOutput === undefined ? "inherit" : "pipe";
    const [execPath, ...execArgv] = [...(this.startedBy ?? []), process.execPath, ...process.execArgv];
    const agent = fork(this.#programs.agent, [JSON.stringify(options)], {
      ...{ stdio: ["ignore", output, output, "ipc"], execPath, execArgv: [...execArgv, ...this.nodeArguments] },
    });
    for (const stream of [agent.stdout, agent.stderr]) stream?.on("data", (text) => this.onOutput?.("log", `${text}`));
    this.#process = agent;
    const started = new Promise<void>((resolve, reject) => {
      agent.once("exit", () => reject(new Error("the agent has ended")));
      agent.on("message", (word: Word) => {
        if ("started" in word) return resolve();
        if ("call" in word) return this.#answered(word);
        if ("error" in word) return this.errors.push(word.error);
        if ("output" in word) return this.onOutput?.(word.output, word.text);
        if ("attempts" in word) this.#attempts.set(word.name, word.attempts);
        else this.statuses.set(word.name, word.status);
        this.#heard.emit("status");
        if ("status" in word) this.onStatus(word.name, word.status);
      });
    });
    await started;
  }

  /** SIGKILL. Its children live on, as they may in reality. */
  async kill(): Promise<void> {
    const process = this.#process;
    this.#process = undefined;
    if (process === undefined || process.exitCode !== null || process.signalCode !== null) return;
    const ended = once(process, "exit");
    process.kill("SIGKILL");
    await ended;
  }

  want(...intents: readonly NodeVolumeIntent[]): void {
    for (const intent of intents) {
      this.#intents.set(intent.metadata.name, intent);
      this.#tell({ write: intent });
    }
  }

  /** A Secret, the only one of its namespace: it is not there any more when the agent is started anew. */
  writeSecret(secret: SecretOrder): void {
    this.#tell({ secret });
  }

  /** Asks for its metrics, which `onOutput` gets. */
  askForMetrics(): void {
    this.#tell({ metrics: true });
  }

  /** The object is gone without a trace, as of a backup that was restored. */
  forget(name: string): void {
    this.#intents.delete(name);
  }

  /** As a deletion does. */
  revoke(...names: readonly string[]): void {
    for (const name of names) {
      const intent = this.#intents.get(name);
      if (intent === undefined) throw new Error(`no intent ${name}`);
      const deletionTimestamp = "2026-01-01T00:00:00Z";
      const generation = (intent.metadata.generation ?? 1) + 1;
      this.#intents.set(name, { ...intent, metadata: { ...intent.metadata, generation, deletionTimestamp } });
      this.#tell({ revoke: name });
    }
  }

  /** What kubelet asks for. @returns what has failed; undefined if nothing has */
  async publish(publish: PodPublish, ms = startMs): Promise<PodFailure | undefined> {
    return this.#ask({ publish }, ms);
  }

  async unpublish(unpublish: PodTarget, ms = startMs): Promise<PodFailure | undefined> {
    return this.#ask({ unpublish }, ms);
  }

  #ask(what: { publish: PodPublish } | { unpublish: PodTarget }, ms: number): Promise<PodFailure | undefined> {
    const call = ++this.#calls;
    const { promise, resolve } = Promise.withResolvers<PodFailure | undefined>();
    this.#answers.set(call, resolve);
    this.#tell({ ...what, call, ms });
    return promise;
  }

  #answered({ call, failed }: { readonly call: number; readonly failed?: PodFailure }): void {
    this.#answers.get(call)?.(failed);
    this.#answers.delete(call);
  }

  /** Resolves with the status of a volume once it is as it should be. @throws Error with the one that it has */
  async status(
    name: string,
    what: string,
    wanted: (status: NodeVolumeIntentStatus) => boolean,
    ms = startMs,
  ): Promise<NodeVolumeIntentStatus> {
    const limit = testDeadline(ms);
    const signal = AbortSignal.timeout(limit);
    for (;;) {
      const status = this.statuses.get(name);
      if (status !== undefined && wanted(status)) return status;
      try {
        await whileWaitingFor(`${name} to be ${what}`, () => once(this.#heard, "status", { signal }));
      } catch (error) {
        if (!signal.aborted) throw error;
        const { state, waiting } = status ?? {};
        throw new Error(`waited ${limit / 1000} s for ${name} to be ${what}: ${JSON.stringify({ state, waiting })}`);
      }
    }
  }

  inState(name: string, state: string, ms?: number): Promise<NodeVolumeIntentStatus> {
    return this.status(name, state, (status) => status.state === state, ms);
  }

  waitsFor(name: string, reason: string, ms?: number): Promise<NodeVolumeIntentStatus> {
    return this.status(name, `waiting for ${reason}`, (status) => status.waiting?.reason === reason, ms);
  }

  /**
   * Resolves once an operation on a volume has failed so often: from then on its delay is 250 to 500 ms times
   * 2^(times-1).
   */
  async failed(name: string, times: number, ms = startMs): Promise<void> {
    const limit = testDeadline(ms);
    const signal = AbortSignal.timeout(limit);
    while ((this.#attempts.get(name) ?? 0) < times) {
      await once(this.#heard, "status", { signal }).catch((error: unknown) => {
        throw signal.aborted ? new Error(`waited ${limit / 1000} s for ${name} to fail ${times} times`) : error;
      });
    }
  }

  /** The kernel's mounts beneath the node's directory, oldest first. */
  mounts(): MountEntry[] {
    return parseMountinfo(readFileSync("/proc/self/mountinfo", "utf8")).filter(
      (mount) => isBeneath(mount.point, this.path) && mount.point !== this.path,
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill();
    for (const mount of this.mounts().reverse()) execFileSync("umount", ["-l", mount.point]);
    execFileSync("umount", ["-l", this.path]);
    rmSync(this.path, { recursive: true });
  }

  #statusOf({ metadata: { name } }: NodeVolumeIntent): Pick<NodeVolumeIntent, "status"> | undefined {
    const status = this.statuses.get(name);
    return status && { status };
  }

  #tell(order: Order): void {
    this.#process?.send(order);
  }
}
