import { mkdirSync } from "node:fs";
import type { NodeOptions } from "../kernel/node-options.ts";
import { RealNode } from "../kernel/real-node.ts";
import { FakeLayers } from "./fake-layers.ts";

/** A node on the real kernel, on which files and loop devices stand for LVM and LUKS. */
export class FakeLayeredNode extends RealNode {
  readonly layers: FakeLayers;

  constructor(options: NodeOptions = {}) {
    super(options);
    mkdirSync(`${this.path}/layers`);
    this.layers = new FakeLayers(`${this.path}/layers`);
    this.keep({ [Symbol.dispose]: () => this.layers.forget() });
    this.#wrap();
  }

  override async restart(): Promise<void> {
    await super.restart();
    this.#wrap();
  }

  #wrap(): void {
    const { host, layers } = this;
    this.host = { ...host, effects: (operation) => ({ ...host.effects(operation), layers }) };
  }
}
