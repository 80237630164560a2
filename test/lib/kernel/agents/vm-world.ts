import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync } from "node:fs";
import { type IntentInput, intent } from "../../../../hack/lib/agent-on-kernel/intent.ts";
import { KernelAgent } from "../../../../hack/lib/agent-on-kernel/kernel-agent.ts";

/** Milliseconds for what the emulated machine does at once. */
export const soonMs = 180_000;

/** In the VM: an agent on its kernel, beside servers that tests stop. */
export class VMWorld implements AsyncDisposable {
  readonly agent: KernelAgent;
  readonly #processes: ChildProcess[] = [];

  private constructor(deadlineMs: number) {
    const { NODEVOLUME_AGENT: agent = "", NODEVOLUME_CHILD: child = "[]" } = process.env;
    this.agent = new KernelAgent({ agent, child: JSON.parse(child) }, () => ({ deadlineMs }));
  }

  /** @param deadlineMs after which a child is given up: what hangs is given up, and what is only slow is not */
  static async start(deadlineMs = 30_000): Promise<VMWorld> {
    const world = new VMWorld(deadlineMs);
    await world.agent.start();
    return world;
  }

  volume(name: string, input: Omit<IntentInput, "mounts">) {
    return intent({ name, uid: `uid of ${name}`, mounts: [{ path: this.agent.target(name) }], ...input });
  }

  /** Another volume is mounted and released, now. @param withinMs each; more where what is away never comes back */
  async othersGoOn(withinMs = 20_000): Promise<void> {
    const { agent } = this;
    const name = "node.other";
    mkdirSync(`${agent.path}/src/other`, { recursive: true });
    agent.want(this.volume(name, { source: { hostPath: { path: `${agent.path}/src/other` } } }));
    await agent.inState(name, "Mounted", withinMs);
    agent.revoke(name);
    await agent.inState(name, "Released", withinMs);
    agent.statuses.delete(name);
  }

  isMounted(name: string): boolean {
    return this.agent.mounts().some((mount) => mount.point === this.agent.target(name));
  }

  /** The mounts of a volume, as the kernel numbers them and their file system. */
  mountsOf(name: string): string[] {
    const { agent } = this;
    const points = [agent.target(name), agent.statuses.get(name)?.stagingPath];
    return agent.mounts().flatMap(({ id, device, point }) => (points.includes(point) ? [`${id} ${device}`] : []));
  }

  /** A shell script that is killed with the world, if it has not ended. */
  run(script: string): ChildProcess {
    const child = spawn("sh", ["-c", script], { stdio: "ignore", detached: true });
    this.#processes.push(child);
    return child;
  }

  /** Ends a script, and what it has started. */
  async end(child: ChildProcess): Promise<void> {
    if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return;
    const ended = once(child, "exit");
    process.kill(-child.pid, "SIGKILL");
    await ended;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const child of this.#processes) await this.end(child);
    await this.agent[Symbol.asyncDispose]();
  }
}
