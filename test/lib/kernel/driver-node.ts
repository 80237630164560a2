import { readdirSync } from "node:fs";
import { type IntentInput, intent } from "../../../hack/lib/agent-on-kernel/intent.ts";
import { asVolumeName } from "../../../src/agent/model/identities.ts";
import type { VolumePlan } from "../../../src/agent/model/volume-plan.ts";
import type { VolumeRecord } from "../../../src/agent/model/volume-record.ts";
import type { NodeVolumeIntent } from "../../../src/api/types.gen.ts";
import { FakeCSIDriver } from "../fakes/fake-csi-driver.ts";
import type { RealNode } from "./real-node.ts";
import { withNode } from "./with-node.ts";

export const volumeName = asVolumeName("node.volume-1");

/** A node on the real kernel with a fake CSI driver, and one volume of that. */
export class DriverNode {
  readonly node: RealNode;
  readonly driver = new FakeCSIDriver();

  constructor(node: RealNode) {
    this.node = node;
    node.drivers = this.driver;
  }

  /** An intent for the volume on two targets; `of` is what else the grant says of it. */
  volume(spec: Partial<IntentInput> & { readonly of?: object } = {}): NodeVolumeIntent {
    const { of = {}, ...more } = spec;
    const { node, driver } = this;
    const granted = { driver: driver.name, volumeHandle: "vol-1", accessMode: "ReadWriteOnce" as const };
    return intent({
      source: { csi: { driver: driver.name, volumeHandle: "vol-1" } },
      grant: { id: "grant-1", csi: { ...granted, ...of } },
      mounts: [{ path: node.target("a") }, { path: node.target("b") }],
      ...more,
    });
  }

  /** What is left beneath the CSI directory. */
  left(): unknown[] {
    return readdirSync(`${this.node.path}/csi`, { recursive: true });
  }

  async record(): Promise<VolumeRecord | undefined> {
    return (await this.node.journal()).records.get(volumeName);
  }

  /** Where the driver has published the volume for a target. */
  async publishedFor(target: string): Promise<string> {
    const path = this.node.target(target);
    return (await this.record())?.targets.find((known) => known.path === path)?.published?.path ?? "";
  }

  /** The volume after its intent was deleted, as far as it gets without a failure being tried again. */
  async released(): Promise<VolumePlan> {
    this.node.want(this.volume({ deleting: true, generation: 2 }));
    return this.node.volume(volumeName);
  }
}

/** Gives each test of a suite a node with a fake driver. */
export function withDriverNode(use: (there: DriverNode) => void): void {
  withNode([], (node) => use(new DriverNode(node)));
}
