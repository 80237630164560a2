// What kubectl nvi says of volumes that kubelet manages is what is so.
import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "chai";
import { loopXfsName } from "../../hack/lib/csi/driver.ts";
import { endSuite, hostPathName } from "../lib/kubelet-world.ts";
import { Randomly } from "../lib/randomly.ts";
import { full } from "../lib/requirements.ts";
import { whatIsSaid, whatIsSo } from "../lib/truth-table.ts";
import { claimsPath, patience, type TruthWorld, truthWorld } from "../lib/truth-world.ts";

/** Milliseconds within which what is said follows what is so. */
const behind = 5_000;

describe("kubectl nvi of volumes that kubelet manages", () => {
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

  /** Compares what was the same before and after it was asked for. @returns milliseconds from the last change until it was said */
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
    let rows: readonly { path: string; kind: string; since: string; message: string; remedy: string }[] = [];
    while (rows.length === 0 && performance.now() < deadline) {
      rows = (JSON.parse(await nvi("orphans", node.name, "-o", "json")) as { orphans: typeof rows }).orphans;
      await sleep(500);
    }
    const [row, ...others] = rows;
    expect(others).to.deep.equal([]);
    expect(row?.kind).to.equal("Staging");
    expect(row?.path).to.match(/\/globalmount$/);
    expect(row?.message).to.include("no pod of the node has it");
    expect(Date.now() - Date.parse(row?.since ?? "")).to.be.within(150_000, 600_000);
    expect(await nvi("orphans", node.name)).to.match(/Staging +\S+globalmount +<none> +LeftByKubelet +\d+/);
    await world.explained(`pvc/${world.lost.name}`, 10_000, /orphan .*globalmount/, /kubelet never finds it/, /umount/);
    await node.host.run("umount", row?.path ?? "");
    await world.objects.until("the orphan to be forgotten", patience, () => {
      return (world.objects.states.get(node.name)?.status?.orphans ?? []).length === 0;
    });
    await world.world.objects.remove(`${claimsPath}/${world.lost.name}`);
  });
});
