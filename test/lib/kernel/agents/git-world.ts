import { existsSync, readdirSync } from "node:fs";
import { expect } from "chai";
import { intent } from "../../../../hack/lib/agent-on-kernel/intent.ts";
import { asVolumeName } from "../../../../src/agent/model/identities.ts";
import type { NodeVolumeIntent } from "../../../../src/api/types.gen.ts";
import { GitServer, type RawEntry, TestRepository } from "../../servers/git-server.ts";
import { RealNode } from "../real-node.ts";

/** A node, and a server of one repository from which one volume is made there. */
export class GitWorld implements AsyncDisposable {
  readonly volume = "node.volume-1";
  readonly node = new RealNode();
  readonly server = this.node.keep(new GitServer(`${this.node.path}/src`));
  repository = new TestRepository(`${this.node.path}/src/app.git`);

  static async make(): Promise<GitWorld> {
    const world = new GitWorld();
    await world.server.listen();
    return world;
  }

  file(name: string, content: string | Buffer, mode = "100644"): RawEntry {
    return { mode, name, object: this.repository.blob(content) };
  }

  directory(name: string, ...entries: readonly RawEntry[]): RawEntry {
    return { mode: "40000", name, object: this.repository.tree(entries) };
  }

  commit(...entries: readonly RawEntry[]): string {
    return this.repository.commit(this.repository.tree(entries));
  }

  intent(revision: string, more: object = {}, deleting = false): NodeVolumeIntent {
    return intent({
      source: { git: { repository: this.server.address("app.git"), revision, ...more } },
      mounts: [{ path: this.node.target("app") }],
      ...(deleting && { deleting, generation: 2 }),
    });
  }

  /** @returns the path where the commit is shown */
  async shown(revision: string, more: object = {}): Promise<string> {
    this.node.want(this.intent(revision, more));
    const volume = await this.node.volume(asVolumeName(this.volume));
    expect(volume.failure?.message).to.equal(undefined);
    return this.node.target("app");
  }

  /** What is said of a commit of which nothing is mounted. It is tried anew. */
  async failure(revision: string, more: object = {}) {
    this.node.forgetFailures();
    this.node.want(this.intent(revision, more));
    const { failure } = await this.node.volume(asVolumeName(this.volume));
    expect(existsSync(this.node.target("app")), "nothing is mounted").to.equal(false);
    return failure;
  }

  /** Data directories of the agent. */
  get data(): string[] {
    return readdirSync(`${this.node.stateDir}/data`).map((key) => `${this.node.stateDir}/data/${key}`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.node[Symbol.asyncDispose]();
  }
}
