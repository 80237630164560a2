import { readFileSync, writeFileSync } from "node:fs";
import { expect } from "chai";
import { intent } from "../../hack/lib/agent-on-kernel/intent.ts";
import { FakeLayeredNode } from "../lib/fake-layered-node.ts";
import { describeLayers } from "../lib/layers-suite.ts";
import { need } from "../lib/requirements.ts";
import { passphrase } from "../lib/volume-group.ts";

const needed = ["root", "loop-devices", "mkfs.ext4", "ext4", "mkfs.xfs", "xfs", "cryptsetup"] as const;
const fake = (node: unknown) => (node as FakeLayeredNode).layers;

describeLayers({
  title: "layers beneath a local volume, with files that stand for them",
  need: (context) => need(context, ...needed),
  node: () => new FakeLayeredNode(),
  group(node, megabytes) {
    fake(node).addGroup("group", megabytes);
    return "group";
  },
  opened: (node) => fake(node).names,
  volumes: (node, group) => fake(node).volumesOf(group),
  grows: { fsType: "xfs", megabytes: 320 },
});

describe("layers beneath a local volume, cut off at any step", () => {
  const name = "node.volume-1";
  const secretRef = { namespace: "default", name: "disk" };
  const local = { lvm: { volumeGroup: "group", logicalVolume: "data" }, encryption: { secretRef } };
  const steps = ["makeLogicalVolume", "formatLUKS", "openLUKS", "closeLUKS", "activate"];

  before(function () {
    need(this, ...needed);
  });

  for (const step of steps.flatMap((each) => [`before ${each}`, `after ${each}`])) {
    it(`goes on ${step}, and keeps its data`, async () => {
      await using node = new FakeLayeredNode();
      passphrase(node, "disk", "words");
      node.layers.addGroup("group", 64);
      let crashes = 0;
      node.layers.at = (now) => {
        if (now !== step || crashes > 0) return;
        crashes++;
        throw new Error(`the agent ends ${now}`);
      };
      const capacityBytes = `${48 << 20}`;
      const want = async (generation: number, deleting: boolean) => {
        const mounts = [{ path: node.target("a") }];
        node.want(intent({ source: { local }, fsType: "ext4", capacityBytes, mounts, generation, deleting }));
        await node.converge();
        await node.restart();
        return node.volume(name);
      };
      expect((await want(1, false)).failure?.message).to.equal(undefined);
      writeFileSync(`${node.target("a")}/token`, "data");
      expect((await want(2, true)).phase).to.equal("released");
      expect(node.layers.names).to.deep.equal([]);
      expect((await want(3, false)).failure?.message).to.equal(undefined);
      expect(readFileSync(`${node.target("a")}/token`, "utf8")).to.equal("data");
      expect(crashes, "it was cut off").to.equal(1);
    });
  }
});
