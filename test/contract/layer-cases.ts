import { readdirSync, statfsSync } from "node:fs";
import { expect } from "chai";
import { FakeLayeredNode } from "../lib/fakes/fake-layered-node.ts";
import { layeredDevice, passphrase } from "../lib/kernel/layers/volume-group.ts";
import type { RealNode } from "../lib/kernel/real-node.ts";
import type { Case } from "./case.ts";
import { versionOf } from "./parts.ts";

const mebi = 1024 * 1024;
const words = "correct horse battery staple";
const encryption = { secretRef: { namespace: "default", name: "disk" } };
const shows = (path: string) => expect(readdirSync(path)).to.include("lost+found");

/** What stands for device-mapper on this node. */
function layersOf(node: RealNode) {
  if (node instanceof FakeLayeredNode) return node.layers;
  throw new Error("a node with real layers");
}

const fake = {
  node: (options: object) => new FakeLayeredNode(options),
  parts: () => ({
    client: `${versionOf("cryptsetup", "--version")}, for headers alone`,
    server: "FakeLayers, which is not device-mapper",
  }),
  isGone: (node: RealNode) => expect(layersOf(node).names, "what is open still").to.deep.equal([]),
} as const;

function refuses(node: RealNode): string[] {
  passphrase(node, "disk", "another passphrase", "u/2");
  return ["another passphrase"];
}

/**
 * Local volumes with layers beneath their file system, made of files and loop devices (FakeLayers) where there is no
 * device-mapper.
 */
export const layerCases: readonly Case[] = [
  {
    ...fake,
    title: "local device with LUKS, with a loop device that stands for it",
    needs: ["loop-devices", "mkfs.ext4", "ext4", "cryptsetup"],
    source(node) {
      passphrase(node, "disk", `${words}\n`);
      return { local: { path: layeredDevice(node, 48), encryption } };
    },
    spec: { fsType: "ext4" },
    shows,
    keepsData: true,
    cutOffs: "some",
    table: { fsType: "ext4", source: /^\/dev\/loop/ },
    secrets: [words],
    refuses,
  },
  {
    ...fake,
    title: "local logical volume with LUKS, with files that stand for it",
    needs: ["loop-devices", "mkfs.xfs", "xfs", "cryptsetup"],
    source(node) {
      passphrase(node, "disk", words);
      layersOf(node).addGroup("group", 600);
      return { local: { lvm: { volumeGroup: "group", logicalVolume: "data" }, encryption } };
    },
    spec: { fsType: "xfs" },
    shows: (path) => expect(readdirSync(path).filter((name) => name !== "token")).to.deep.equal([]),
    keepsData: true,
    cutOffs: "some",
    table: { fsType: "xfs", source: /^\/dev\/loop/ },
    secrets: [words],
    refuses,
    grows: {
      from: `${320 * mebi}`,
      to: `${420 * mebi}`,
      size: (path) => statfsSync(path).blocks * statfsSync(path).bsize,
    },
  },
];
