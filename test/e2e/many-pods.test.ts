// Twenty pods of one node share a set's volume and five claims through csi.nodevolume.dev, come and go by chance, and
// all that serves them is killed meanwhile.
import { readFileSync } from "node:fs";
import { expect } from "chai";
import { csiDir } from "../../hack/lib/csi/paths.ts";
import { slowSuite } from "../../hack/lib/lanes/slow.ts";
import { layout } from "../../hack/lib/pretend-node/node.ts";
import { full } from "../lib/asserts/requirements.ts";
import { Randomly } from "../lib/builders/randomly.ts";
import { endSuite, type KubeletWorld, kubeletWorld } from "../lib/cluster/kubelet-world.ts";
import { ofClaim, ofSet } from "../lib/cluster/pods.ts";
import { attachments } from "../lib/csi/csi-claims.ts";

const claims = ["claim-0", "claim-1", "claim-2", "claim-3", "claim-4"];
const set = "shared";
const many = 20;
/**
 * A container that containerd is starting when kubelet is killed never runs: kubelet's call is canceled (StartError,
 * "context canceled"). Only a pod that may be started again outlives that; one whose program fails on a volume is told
 * by failures all the same.
 */
const surviving = { restartPolicy: "OnFailure" };
/** Milliseconds for twenty pods at once on two busy processors. */
const patience = 180_000;

slowSuite("twenty pods of one node, with a set's volume and five claims", () => {
  let world: KubeletWorld;
  /** From the name of each claim's volume at its driver. */
  const handles = new Map<string, string>();
  const living = new Set<string>();
  let born = 0;

  before(async function () {
    world = await kubeletWorld(this);
    const volumes = await Promise.all(claims.map(async (name) => ({ name, volume: await world.claim(name) })));
    for (const { name, volume } of volumes)
      handles.set(name, (volume["spec"] as { csi: { volumeHandle: string } }).csi.volumeHandle);
    await world.apply(set, {
      volume: { source: { emptyDir: { medium: "Memory", sizeLimit: "16Mi" } } },
      allowedNamespaces: { names: ["default"] },
    });
  });
  after(async function () {
    await endSuite(this, world);
  });

  /** Every pod has the set's volume and one of the claims. */
  async function create(): Promise<string> {
    const name = `pod-${born}`;
    const claim = claims[born % claims.length] ?? "";
    born += 1;
    await world.pods.create(name, [ofSet("set", set), ofClaim("claim", claim)], surviving);
    living.add(name);
    return name;
  }

  async function bindsOf(name: string): Promise<string[]> {
    const uid = world.pods.get(name)?.metadata.uid;
    return (await world.node.host.mounts()).filter((line) =>
      line.includes(`${layout.kubeletDir}/pods/${uid}/volumes/`),
    );
  }

  /** How often the driver has been asked to stage a volume, and has done it. */
  function staged(): { readonly [claim: string]: number } {
    const calls = readFileSync(world.driver.process.logFile, "utf8").split("\n");
    const of = (handle: string) =>
      calls.filter(
        (line) =>
          /"Method":"\/csi.v1.Node\/NodeStageVolume"/.test(line) && line.includes(handle) && /"Error":""/.test(line),
      );
    return Object.fromEntries([...handles].map(([claim, handle]) => [claim, of(handle).length]));
  }

  it("each have both, mounted once on the node", async function () {
    this.timeout(patience + 30_000);
    for (let index = 0; index < many; index += 1) await create();
    await world.pods.ready(patience, ...living);
    for (const name of living) expect(await bindsOf(name), name).to.have.lengthOf(2);
    expect(staged()).to.deep.equal(Object.fromEntries(claims.map((claim) => [claim, 1])));
    expect(world.objects.intentsOf(set)).to.have.lengthOf(1);
    expect([...world.objects.intents.keys()]).to.have.lengthOf(1 + claims.length);
  });

  it("each see what the others write", async () => {
    const [name = ""] = living;
    const uid = world.pods.get(name)?.metadata.uid;
    const list = await world.node.host.run(
      "ls",
      `${layout.kubeletDir}/pods/${uid}/volumes/kubernetes.io~csi/set/mount`,
    );
    expect(list.trim().split("\n")).to.include.members([...living]);
  });

  it("come and go by chance, while agent, kubelet and controller are killed", async function () {
    const rounds = full() ? 200 : 12;
    this.timeout(rounds * 15_000 + patience);
    const chance = new Randomly();
    console.log(`    ${rounds} rounds, NODEVOLUME_E2E_SEED=${chance.seed}`);
    const kills = [() => world.restartAgent(), () => world.node.restartKubelet(), () => world.restartController()];
    for (let round = 1; round <= rounds; round += 1) {
      // One goes and one comes, now and then more, so that they overlap.
      const going = chance.one([...living]);
      living.delete(going);
      await world.pods.delete(going);
      const coming = await create();
      if (round % 3 === 0) await kills[(round / 3) % kills.length]?.();
      if (chance.below(3) > 0) continue;
      await world.pods.gone(patience, going);
      await world.pods.ready(patience, coming);
    }
    await world.pods.ready(patience, ...living);
    for (const name of living) expect(await bindsOf(name), name).to.have.lengthOf(2);
    expect([...world.pods.failures], "what pods complain of").to.deep.equal([]);
  });

  it("leave nothing behind when they are gone", async function () {
    this.timeout(2 * patience);
    await world.pods.delete(...living);
    await world.pods.gone(patience, ...world.pods.names);
    living.clear();
    await world.objects.until("the intents to be gone", patience, () => {
      return [...world.objects.intents.values()].every(({ metadata }) => metadata.name.includes(`.${set}-`));
    });
    await world.remove(set);
    expect([...world.objects.intents.keys()]).to.deep.equal([]);
    const left = (await world.node.host.mounts()).filter((line) =>
      [csiDir, `${layout.kubeletDir}/pods`, layout.stateDir, "/mnt/nodevolume"].some((path) =>
        line.split(" ")[4]?.startsWith(`${path}/`),
      ),
    );
    expect(left).to.deep.equal([]);
    expect((await world.world.objects.get(attachments))?.["items"]).to.deep.equal([]);
    await world.objects.until("nothing to be in use", 30_000, () => {
      const state = world.objects.states.get(world.node.name)?.status;
      return (state?.volumesInUse ?? []).length === 0 && (state?.inUse ?? 0) === 0;
    });
    await world.unclaim(...claims);
  });
});
