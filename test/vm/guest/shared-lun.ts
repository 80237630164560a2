import { execFileSync } from "node:child_process";
import { readFileSync, realpathSync, writeFileSync } from "node:fs";
import { basename } from "node:path";
import { expect } from "chai";
import { ControlledAgents } from "../../lib/controlled-agents.ts";
import { soonMs, VMWorld } from "../../lib/vm-world.ts";

const nodes = ["n0", "n1"] as const;
/** Of test/vm/shared-lun.sh, by each of its ways. */
const sources = {
  n0: { iscsi: { targetPortal: "127.0.0.1:3262", iqn: "iqn.2024-01.example:shared", lun: 2, fsType: "ext4" } },
  n1: { fc: { targetWWNs: (process.env["NODEVOLUME_FC_TARGETS"] ?? "").split(" "), lun: 2, fsType: "ext4" } },
};

/** test/real/shared-lun.test.ts has the same with what stands for LUNs. */
describe("one LUN that two agents find, by iSCSI and by Fibre Channel", function () {
  this.timeout(4 * soonMs);
  const worlds: VMWorld[] = [];
  let both: ControlledAgents;

  before(async () => {
    const script = ". test/vm/shared-lun.sh; shared_lun_start";
    execFileSync("sh", ["-c", script], { stdio: ["ignore", 2, 2] });
    for (const _ of nodes) worlds.push(await VMWorld.start(60_000));
    both = new ControlledAgents(new Map(worlds.map(({ agent }, at) => [nodes[at] ?? "", agent])), soonMs);
  });
  after(async () => {
    await using all = new AsyncDisposableStack(); // whatever fails
    for (const world of worlds) all.use(world);
  });

  it("is of one of them; the other says so, and has what that has written once it is released", async () => {
    for (const node of nodes) both.set(node, sources[node]);
    both.fleet.start();
    const found = () => nodes.map((node) => both.intentOf(node)?.status?.disk);
    await both.becomes("both to name what they have found", () => found().every((disk) => disk !== undefined));
    expect(found()[0]).to.match(/^36001405fc00002/);
    expect(found()[1]).to.equal(found()[0]);
    await both.becomes("one to have it", () => nodes.some((node) => both.stateOf(node) === "Mounted"));
    const first = nodes.find((node) => both.stateOf(node) === "Mounted") ?? "n0";
    const second = first === "n0" ? "n1" : "n0";
    await both.becomes("the other to say so", () => both.fleet.waitReason(second) === `VolumeHeldElsewhere ${first}`);
    expect(both.deviceOf(second)).to.equal(undefined);
    const ways = { n0: /\/session\d+\//, n1: /\/rport-/ };
    const place = (node: string) => realpathSync(`/sys/class/block/${basename(both.deviceOf(node) ?? "")}`);
    expect(place(first)).to.match(ways[first]);
    writeFileSync(`${both.target(first)}/written`, first);

    both.fleet.api.remove("nodevolumesets", first);
    await both.becomes("the other to have it", () => both.stateOf(second) === "Mounted");
    expect([both.intentOf(first), both.deviceOf(first)]).to.deep.equal([undefined, undefined]);
    expect(place(second)).to.match(ways[second]);
    expect(readFileSync(`${both.target(second)}/written`, "utf8")).to.equal(first);
    both.fleet.api.remove("nodevolumesets", second);
    await both.becomes("nobody to have it", () => both.fleet.intents().length === 0);
    expect(nodes.map((node) => both.deviceOf(node))).to.deep.equal([undefined, undefined]);
  });
});
