// What kubectl nvi says of volumes that kubelet manages is what is so.
import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "chai";
import { loopXfsName } from "../../hack/lib/csi/driver.ts";
import { slowSuite } from "../../hack/lib/lanes/slow.ts";
import { until } from "../../hack/lib/until.ts";
import type { Orphan } from "../../src/api/types.gen.ts";
import { full } from "../lib/asserts/requirements.ts";
import { Randomly } from "../lib/builders/randomly.ts";
import { endSuite, hostPathName } from "../lib/cluster/kubelet-world.ts";
import { whatIsSaid, whatIsSo } from "../lib/cluster/truth-table.ts";
import { claimsPath, patience, type TruthWorld, truthWorld } from "../lib/cluster/truth-world.ts";

/** Milliseconds within which what is said follows what is so. */
const behind = 5_000;

slowSuite("kubectl nvi of volumes that kubelet manages", () => {
  let world: TruthWorld;
  /** Moments at which something was mounted. */
  let mounted = 0;

  before(async function () {
    this.timeout(4 * patience);
    world = await truthWorld(this);
  });
  after(async function () {
    this.timeout(6 * patience);
    await world?.left();
    await endSuite(this, world);
  });

  it("is what mount table and API show, at random moments", async function () {
    const moments = full() ? 200 : 8;
    this.timeout(moments * 15_000 + 4 * patience);
    const chance = new Randomly();
    console.log(`    ${moments} moments, NODEVOLUME_E2E_SEED=${chance.seed}`);
    const claims = ["moment-0", "moment-1", "moment-2", "moment-3"];
    for (const [at, claim] of claims.entries()) await world.claim(claim, at % 2 === 0 ? hostPathName : loopXfsName);
    const living = new Set<string>();
    let slowest = 0;
    mounted = 0;
    for (let moment = 0; moment < moments; moment += 1) {
      if (living.size > 3 || (living.size > 0 && chance.below(3) === 0)) {
        const going = chance.one([...living]);
        living.delete(going);
        await world.pods.delete(going);
      }
      const coming = `moment-${moment}`;
      await world.start(coming, chance.one(claims));
      living.add(coming);
      // Now and then while it comes, now and then once it is there.
      if (chance.below(2) === 0) await world.pods.ready(patience, coming);
      await sleep(chance.below(2_000));
      slowest = Math.max(slowest, await same(moment));
    }
    expect(mounted, "moments at which something was mounted").to.be.greaterThan(0);
    console.log(`    ${mounted} with mounts; said at most ${Math.round(slowest)} ms after it was so`);
    await world.leave(
      [...world.pods.names].filter((name) => name.startsWith("moment-")),
      ...claims.map((claim) => `${claimsPath}/${claim}`),
    );
    await same(moments);
    await world.left();
  });

  /**
   * Compares what was the same before and after it was asked for.
   * @returns milliseconds from the last change until it was said
   */
  async function same(moment: number): Promise<number> {
    const { node, world: csi } = world;
    const look = () => whatIsSo(node.host, csi.cluster.admin, node.name);
    let before = await look();
    let since = performance.now();
    for (;;) {
      const said = whatIsSaid(await world.nvi("volumes", node.name, "-o", "json"));
      const after = await look();
      const isStill = JSON.stringify(before) === JSON.stringify(after);
      if (isStill && JSON.stringify(said) === JSON.stringify(after)) {
        mounted += after.some((row) => row.mounted.length > 0) ? 1 : 0;
        return performance.now() - since;
      }
      if (isStill && performance.now() - since > behind) expect(said, `moment ${moment}`).to.deep.equal(after);
      if (!isStill) since = performance.now();
      before = after;
    }
  }

  it("lists what kubelet has lost, with age and evidence", async function () {
    this.timeout(4 * patience);
    const { node, nvi } = world;
    const deadline = performance.now() + 3 * patience;
    let rows: readonly (Orphan & { readonly node: string })[] = [];
    while (rows.length === 0 && performance.now() < deadline) {
      rows = (JSON.parse(await nvi("orphans", node.name, "-o", "json")) as { orphans: typeof rows }).orphans;
      await sleep(500);
    }
    const [row, ...others] = rows;
    expect(others).to.deep.equal([]);
    expect(row?.kind).to.equal("Staging");
    expect(row?.path).to.match(/\/globalmount$/);
    expect(row?.message).to.include("no pod of the node has it");
    expect(Date.now() - Date.parse(row?.since ?? "")).to.be.within(150_000, full() ? 7_200_000 : 600_000);
    expect(row?.keptBecause, "nothing keeps it").to.equal(undefined);
    expect(Date.parse(row?.reapAt ?? "") - Date.now()).to.be.within(3_600_000, 7_200_000);
    const words = /Staging +\S+globalmount +<none> +LeftByKubelet +\S+ +in \S+/;
    expect(await nvi("orphans", node.name)).to.match(words);
    await world.explained(`pvc/${world.lost.name}`, 10_000, /orphan .*globalmount/, /kubelet never finds it/, /umount/);
  });

  it("is rid of what kubelet has lost: by the driver, once its grace period is over, and else by hand", async function () {
    // A short run does not wait ten minutes for it.
    const graceMs = full() ? 600_000 : 0;
    this.timeout(graceMs + 10 * patience);
    const { node, objects, lost } = world;
    const orphans = () => objects.states.get(node.name)?.status?.orphans ?? [];
    const path = orphans()[0]?.path ?? "";
    if (graceMs === 0) await node.host.run("umount", path);
    else {
      // That pods' cgroups are seen is shown by one that runs. An agent that is a pod has its own.
      await world.pods.create("bystander", []);
      await world.pods.ready(patience, "bystander");
      await world.restartAgent([`--reap-orphans-grace-period=${graceMs / 1_000}s`]);
      await objects.until("the new agent to know nothing of it", patience, () => orphans().length === 0);
      await objects.until("it to be found again", 4 * patience, () => orphans()[0]?.reapAt !== undefined);
      const events = "/api/v1/namespaces/default/events?fieldSelector=reason=OrphanReaped";
      const reaped = async () => JSON.stringify((await world.world.cluster.admin.call("GET", events)).body);
      await objects
        .until("it to be gone", graceMs + 4 * patience, () => orphans().length === 0)
        .catch((error: Error) => {
          console.log(`    kept because ${orphans()[0]?.keptBecause}`);
          throw error;
        });
      expect(await node.mountsAt(path)).to.deep.equal([]);
      await until("the Event", 30_000, async () => (await reaped()).includes(`had its driver unstage ${path}`));
      await node.host.run("test", "!", "-e", path);
      await world.leave(["bystander"]);
      await world.left();
      await world.restartAgent();
    }
    await objects.until("the orphan to be forgotten", patience, () => orphans().length === 0);
    await world.world.objects.remove(`${claimsPath}/${lost.name}`);
  });
});
