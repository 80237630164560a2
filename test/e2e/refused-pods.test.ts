// Pods that may not have what they ask for: they are told why, and nothing is mounted for them.
import { expect } from "chai";
import { slowSuite } from "../../hack/lib/lanes/slow.ts";
import { layout } from "../../hack/lib/pretend-node/node.ts";
import { until } from "../../hack/lib/until.ts";
import { endSuite, type KubeletWorld, kubeletWorld } from "../lib/cluster/kubelet-world.ts";
import { ofClaim, ofSet, Pods } from "../lib/cluster/pods.ts";

const set = "for-default-only";
/** Milliseconds. */
const patience = 60_000;

slowSuite("a pod of a namespace that is not allowed", () => {
  let world: KubeletWorld;
  let others: Pods;

  before(async function () {
    world = await kubeletWorld(this);
    const { adminKubectl, admin } = world.world.cluster;
    await adminKubectl.run(["create", "namespace", "others"]);
    await until("the namespace to have its ServiceAccount", 30_000, async () => {
      return (await admin.call("GET", "/api/v1/namespaces/others/serviceaccounts/default")).status === 200;
    });
    others = new Pods(admin, "others");
    world.world.onEnd(() => others[Symbol.dispose]());
    await world.apply(set, {
      volume: { source: { emptyDir: { medium: "Memory" } } },
      allowedNamespaces: { names: ["default"] },
    });
  });
  after(async function () {
    this.timeout(2 * patience);
    await others?.clear(patience);
    await endSuite(this, world);
  });

  async function mountsOf(name: string): Promise<string[]> {
    const uid = others.get(name)?.metadata.uid;
    return (await world.node.host.mounts()).filter((line) =>
      line.includes(`${layout.kubeletDir}/pods/${uid}/volumes/`),
    );
  }

  it("is told so by an Event, and gets nothing of a set's volume", async () => {
    await world.pods.create("allowed", [ofSet("data", set)]);
    // It passes by the scheduler, and its gate: kubelet asks at once.
    await others.create("not-allowed", [ofSet("data", set)], { nodeName: world.node.name });
    await world.pods.ready(patience, "allowed");
    await toldOf("not-allowed", /NamespaceNotAllowed/);
    // kubelet has asked, and has its answer.
    await toldOf("not-allowed", /FailedMount.*PodNotListed/);
    expect(others.isReady("not-allowed")).to.equal(false);
    expect(await mountsOf("not-allowed")).to.deep.equal([]);
    await world.pods.delete("allowed");
    await world.pods.gone(patience, "allowed");
  });

  it("gets nothing of a claim of another namespace", async () => {
    await world.claim("of-default");
    await others.create("no-claim", [ofClaim("data", "of-default")]);
    await toldOf("no-claim", /of-default/);
    expect(await mountsOf("no-claim")).to.deep.equal([]);
    await world.unclaim("of-default");
  });

  async function toldOf(name: string, what: RegExp): Promise<void> {
    let told: string[] = [];
    await until(`${name} to be told ${what}`, patience, async () => {
      told = await others.told(name);
      return told.some((one) => what.test(one));
    }).catch((error: Error) => {
      throw new Error(`${error.message}: ${told.join("\n  ")}`);
    });
    console.log(`    ${told.filter((one) => what.test(one)).join("\n    ")}`);
  }
});
