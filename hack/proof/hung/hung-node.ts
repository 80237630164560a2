import { mkdirSync } from "node:fs";
import { FuseServer } from "../../lib/agent-on-kernel/fuse/fuse-server.ts";
import { type IntentInput, intent } from "../../lib/agent-on-kernel/intent.ts";
import { KernelAgent } from "../../lib/agent-on-kernel/kernel-agent.ts";
import type { Programs } from "../../lib/agent-on-kernel/programs.ts";
import { nodeArguments } from "../steady/as-the-image.ts";
import type { Canaries } from "../steady/canaries.ts";
import type { Outputs } from "../steady/outputs.ts";

export interface NodeSize {
  readonly volumes: number;
  /** Of these, how many are each of a server of its own that will stop. */
  readonly hung: number;
  /** As production has it unless given. */
  readonly deadlineMs?: number;
}

/** Milliseconds of one volume that goes and comes back: until each is reported. */
export interface Cycle {
  readonly unmount: number;
  readonly mount: number;
  readonly remount: number;
}

const settleMs = 60_000;
/** Servers that are started at once. */
const atOnce = 8;
/** Of so many servers the first one takes requests and does not answer them, so that who asks cannot even be killed. */
const holdsEach = 5;
/** Of so many hung volumes one stays mounted as it is; the others are released and wanted anew. */
const staysEach = 6;

/** A real agent with volumes of its own node, and others that each have a FUSE server. */
export class HungNode implements AsyncDisposable {
  readonly agent: KernelAgent;
  readonly hung: readonly string[];
  readonly others: readonly string[];
  readonly #servers: FuseServer[] = [];
  readonly #generations = new Map<string, { uid: number; generation: number }>();
  readonly #kept = new AsyncDisposableStack();
  #next = 0;

  private constructor(programs: Programs, { volumes, hung, deadlineMs }: NodeSize, outputs: Outputs) {
    const told = { log: true, tellsAll: true, ...(deadlineMs !== undefined && { deadlineMs }) };
    this.agent = this.#kept.use(new KernelAgent(programs, () => told));
    this.agent.nodeArguments = nodeArguments;
    this.agent.onOutput = (where, text) => outputs.next(where, text);
    this.hung = Array.from({ length: hung }, (_, i) => `node.hung-${i}`);
    this.others = Array.from({ length: volumes - hung }, (_, i) => `node.other-${i}`);
  }

  static async start(programs: Programs, size: NodeSize, { canaries, outputs }: Said): Promise<HungNode> {
    const node = new HungNode(programs, size, outputs);
    try {
      await node.#start(programs, canaries);
    } catch (error) {
      await node[Symbol.asyncDispose]();
      throw error;
    }
    return node;
  }

  /** The next one of the others goes, comes back, and becomes read-only. */
  async cycle(): Promise<Cycle> {
    const name = this.others[this.#next % this.others.length] as string;
    this.#next += 1;
    const unmount = await this.#timed(() => this.#release(name));
    const mount = await this.#timed(() => this.#mount(name));
    const remount = await this.#timed(() => this.#remount(name));
    return { unmount, mount, remount };
  }

  /** All servers stop; most of their volumes are released, and wanted anew. */
  async hang(): Promise<void> {
    await Promise.all(this.#servers.map((server, i) => (i % holdsEach === 0 ? server.hold() : server.stop())));
    const anew = this.hung.filter((_, i) => i % staysEach !== 0);
    await Promise.all(anew.map((name) => this.#release(name)));
    for (const name of anew) this.#want(name);
  }

  /** Servers go on. @returns milliseconds until each volume was mounted */
  async heal(): Promise<number[]> {
    const began = performance.now();
    await Promise.all(this.#servers.map((server, i) => (i % holdsEach === 0 ? server.resume() : server.go())));
    return Promise.all(
      this.hung.map(async (name) => {
        await this.agent.inState(name, "Mounted", 2 * settleMs);
        return performance.now() - began;
      }),
    );
  }

  async releaseAll(): Promise<void> {
    await Promise.all([...this.hung, ...this.others].map((name) => this.#release(name)));
  }

  /** What hung volumes say that they wait for, and how many say it. */
  waits(): Map<string, number> {
    const counts = new Map<string, number>();
    for (const name of this.hung) {
      const { state, waiting } = this.agent.statuses.get(name) ?? {};
      const said = waiting?.reason ?? state ?? "nothing";
      counts.set(said, (counts.get(said) ?? 0) + 1);
    }
    return counts;
  }

  isMounted(name: string): boolean {
    return this.agent.mounts().some(({ point }) => point === this.agent.target(name));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const server of this.#servers) await server.die(); // or their mounts answer nobody who takes them away
    await this.#kept.disposeAsync();
  }

  async #start(programs: Programs, canaries: Canaries): Promise<void> {
    const { agent, hung, others } = this;
    for (const name of [...hung, ...others]) mkdirSync(`${agent.path}/src/${name}`);
    for (let from = 0; from < hung.length; from += atOnce) {
      const some = hung.slice(from, from + atOnce);
      const starting = some.map((name) => FuseServer.start(`${agent.path}/src/${name}`, programs.fuse));
      this.#servers.push(...(await Promise.all(starting)));
    }
    await agent.start();
    agent.writeSecret({ ...secret, values: { password: canaries.value(64), long: canaries.value(4000) } });
    for (const name of [...hung, ...others]) this.#want(name);
    await Promise.all([...hung, ...others].map((name) => agent.inState(name, "Mounted", settleMs)));
  }

  #mount(name: string): Promise<unknown> {
    this.#want(name);
    return this.agent.inState(name, "Mounted", settleMs);
  }

  #remount(name: string): Promise<unknown> {
    const generation = this.#want(name, true);
    const done = ({ state, observedGeneration }: { state?: string; observedGeneration?: number }) =>
      state === "Mounted" && observedGeneration === generation;
    return this.agent.status(name, "mounted read-only", done, settleMs);
  }

  async #release(name: string): Promise<void> {
    this.agent.revoke(name);
    await this.agent.inState(name, "Released", settleMs);
    this.agent.statuses.delete(name);
    this.agent.forget(name);
    const known = this.#generations.get(name);
    this.#generations.set(name, { uid: (known?.uid ?? 0) + 1, generation: 0 });
  }

  /** @returns its generation */
  #want(name: string, readOnly = false): number {
    const { uid, generation } = this.#generations.get(name) ?? { uid: 1, generation: 0 };
    this.#generations.set(name, { uid, generation: generation + 1 });
    const mounts = [{ path: this.agent.target(name), readOnly }];
    const now = { name, uid: `${name} ${uid}`, generation: generation + 1, mounts };
    this.agent.want(intent({ ...now, source: this.#source(name) }));
    return generation + 1;
  }

  #source(name: string): IntentInput["source"] {
    const path = `${this.agent.path}/src/${name}`;
    if (this.hung.includes(name)) return { hostPath: { path: `${path}/data` } };
    const kind = this.others.indexOf(name) % 5;
    if (kind === 3) return { emptyDir: { medium: "Memory", sizeLimit: "1Mi" } };
    return kind === 4 ? { secret: { secretName: secret.name, namespace: secret.namespace } } : { hostPath: { path } };
  }

  async #timed(act: () => Promise<unknown>): Promise<number> {
    const began = performance.now();
    await act();
    return performance.now() - began;
  }
}

interface Said {
  readonly canaries: Canaries;
  readonly outputs: Outputs;
}

const secret = { namespace: "hung", name: "secret" };
