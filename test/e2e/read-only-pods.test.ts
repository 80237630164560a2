// What is shared read-only: the runtime of containers, and not the mount that it is given, decides whether they can
// write.
import { expect } from "chai";
import { slowSuite } from "../../hack/lib/lanes/slow.ts";
import { layout } from "../../hack/lib/pretend-node/node.ts";
import { until } from "../../hack/lib/until.ts";
import { podDriver } from "../../src/api/names.ts";
import { endSuite, type KubeletWorld, kubeletWorld } from "../lib/cluster/kubelet-world.ts";
import type { PodVolume } from "../lib/cluster/pods.ts";

const set = "to-be-read";
/** Milliseconds. */
const patience = 60_000;

slowSuite("a set that pods may only read", () => {
  let world: KubeletWorld;

  before(async function () {
    world = await kubeletWorld(this);
    await world.apply(set, {
      volume: { source: { emptyDir: { medium: "Memory" } } },
      allowedNamespaces: { names: ["default"], readOnly: true },
    });
  });
  after(async function () {
    this.timeout(2 * patience);
    await endSuite(this, world);
  });

  /** The program of the pod fails if it can write there. */
  function reading(csi: object, volumeAttributes: object = {}): PodVolume {
    return {
      name: "data",
      readOnly: true,
      source: { csi: { driver: podDriver, ...csi, volumeAttributes: { set, ...volumeAttributes } } },
    };
  }

  it("is written to by no container of a pod whose volume says so, too", async () => {
    const { pods } = world;
    await pods.create("reads", [reading({ readOnly: true })]);
    await pods.ready(patience, "reads");
    await pods.delete("reads");
    await pods.gone(patience, "reads");
    expect(pods.failures.get("reads")).to.equal(undefined);
  });

  for (const [name, volume] of [
    ["says-nothing", reading({})],
    ["says-it-to-us-alone", reading({}, { readOnly: "true" })],
  ] as const) {
    it(`is not given to a pod that ${name.replaceAll("-", " ")}, which is told what to write`, async () => {
      const { pods, node } = world;
      await pods.create(name, [volume]);
      const what = /FailedMount.*AccessModeMismatch.*write readOnly: true in csi: of its volume data/;
      await until(`${name} to be told`, patience, async () => {
        expect(pods.failures.get(name), "what its container found out").to.equal(undefined);
        return (await pods.told(name)).some((one) => what.test(one));
      });
      const uid = pods.get(name)?.metadata.uid;
      const mounts = await node.host.mounts();
      expect(mounts.filter((line) => line.includes(`${layout.kubeletDir}/pods/${uid}/volumes/`))).to.deep.equal([]);
      await pods.delete(name);
      await pods.gone(patience, name);
    });
  }
});
