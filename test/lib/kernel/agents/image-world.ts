import { existsSync, readdirSync } from "node:fs";
import { expect } from "chai";
import { intent } from "../../../../hack/lib/agent-on-kernel/intent.ts";
import { asVolumeName } from "../../../../src/agent/model/identities.ts";
import { ContractRegistry, type Described } from "../../servers/contract-registry.ts";
import { RealNode } from "../real-node.ts";

/** A node, and what stands for a registry, from which one volume is made there. */
export class ImageWorld implements AsyncDisposable {
  readonly volume = "node.volume-1";
  readonly node = new RealNode();
  readonly registry = this.node.keep(new ContractRegistry());

  static async make(): Promise<ImageWorld> {
    const world = new ImageWorld();
    await world.registry.listen();
    return world;
  }

  /** @returns the path where the image is shown */
  async shown(image: Described): Promise<string> {
    this.#want(image);
    const volume = await this.node.volume(asVolumeName(this.volume));
    expect(volume.failure?.message).to.equal(undefined);
    return this.node.target("model");
  }

  /** What is said of an image of which nothing is mounted. It is tried anew. */
  async failure(image: Described, more: object = {}): Promise<string> {
    this.node.forgetFailures();
    this.#want(image, more);
    const { failure } = await this.node.volume(asVolumeName(this.volume));
    expect(existsSync(this.node.target("model")), "nothing is mounted").to.equal(false);
    return `${failure?.reason}: ${failure?.message}`;
  }

  #want(image: Described, more: object = {}): void {
    const source = { image: { reference: this.registry.reference(image), ...more } };
    this.node.want(intent({ source, mounts: [{ path: this.node.target("model") }] }));
  }

  /** What is in the data directory of the volume. */
  get data(): string[] {
    const [key = ""] = readdirSync(`${this.node.stateDir}/data`);
    return readdirSync(`${this.node.stateDir}/data/${key}`).sort();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.node[Symbol.asyncDispose]();
  }
}
