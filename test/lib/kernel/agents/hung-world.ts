import { mkdirSync } from "node:fs";
import type { AgentOptions } from "../../../../hack/lib/agent-on-kernel/agent-words.ts";
import { FuseServer } from "../../../../hack/lib/agent-on-kernel/fuse/fuse-server.ts";
import { type IntentInput, intent } from "../../../../hack/lib/agent-on-kernel/intent.ts";
import { KernelAgent } from "../../../../hack/lib/agent-on-kernel/kernel-agent.ts";
import type { Programs } from "../../../../hack/lib/agent-on-kernel/programs.ts";
import { startedWith } from "../../../../hack/lib/command-lines.ts";

/** An agent on the real kernel, and a FUSE server of which some of its volumes come. */
export class HungWorld implements AsyncDisposable {
  readonly agent: KernelAgent;
  readonly server: FuseServer;
  /** Volumes that have nothing to do with the server. */
  readonly others = ["node.other-1", "node.other-2", "node.other-3"];

  readonly #child: readonly string[];

  private constructor(agent: KernelAgent, server: FuseServer, child: readonly string[]) {
    this.agent = agent;
    this.server = server;
    this.#child = child;
  }

  /** @param options may name prefixes beneath the server's mount, which is `src/fuse` of the agent's directory */
  static async start(
    programs: Programs,
    options: (path: string) => Partial<AgentOptions> = () => ({}),
  ): Promise<HungWorld> {
    await using started = new AsyncDisposableStack();
    const agent = started.use(new KernelAgent(programs, (path) => ({ deadlineMs: 8_000, ...options(path) })));
    mkdirSync(`${agent.path}/src/fuse`);
    const server = started.use(await FuseServer.start(`${agent.path}/src/fuse`, programs.fuse));
    await agent.start();
    started.move();
    return new HungWorld(agent, server, programs.child);
  }

  /** A volume of a directory, on a target of its own. */
  volume(name: string, path: string, more: Partial<IntentInput> = {}) {
    const mounts = [{ path: this.agent.target(name) }];
    return intent({ name, uid: `uid of ${name}`, source: { hostPath: { path } }, mounts, ...more });
  }

  /** A volume of a directory in the server's file system. */
  beneath(name: string, more: Partial<IntentInput> = {}) {
    return this.volume(name, `${this.server.point}/data`, more);
  }

  isMounted(name: string): boolean {
    return this.agent.mounts().some((mount) => mount.point === this.agent.target(name));
  }

  /** Other volumes are mounted and released, now. */
  async othersGoOn(): Promise<void> {
    const { agent, others } = this;
    for (const name of others) {
      mkdirSync(`${agent.path}/src/${name}`, { recursive: true });
      agent.want(this.volume(name, `${agent.path}/src/${name}`));
    }
    await Promise.all(others.map((name) => agent.inState(name, "Mounted", 5_000)));
    agent.revoke(...others);
    await Promise.all(others.map((name) => agent.inState(name, "Released", 5_000)));
    for (const name of others) agent.statuses.delete(name);
  }

  /**
   * Processes that the agent, or one before it, has started for what may hang, and that have not ended; also the spare
   * one that waits to be told what to do.
   */
  children(): number[] {
    return startedWith(this.#child);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.server[Symbol.asyncDispose]();
    await this.agent[Symbol.asyncDispose]();
  }
}
