import { execFileSync } from "node:child_process";
import { readFileSync, realpathSync, writeFileSync } from "node:fs";
import { basename } from "node:path";
import { expect } from "chai";
import { until } from "../../../hack/lib/until.ts";
import type { NodeVolumeIntent } from "../../../src/api/types.gen.ts";
import { bootID } from "../../../src/host/linux/linux-evidence.ts";
import { soonMs, VMWorld } from "../../lib/vm-world.ts";
import { addNodes, type CSIFleet, createCSIFleet } from "../../unit/controller/attach/csi-fleet.ts";

const nodes = ["n0", "n1"] as const;
type NodeName = (typeof nodes)[number];
/** Of test/vm/shared-lun.sh, by each of its ways. */
const sources = {
  n0: { iscsi: { targetPortal: "127.0.0.1:3262", iqn: "iqn.2024-01.example:shared", lun: 2, fsType: "ext4" } },
  n1: { fc: { targetWWNs: (process.env["NODEVOLUME_FC_TARGETS"] ?? "").split(" "), lun: 2, fsType: "ext4" } },
};

/**
 * A controller, and two agents on this kernel that stand for two nodes: to it each way to a LUN is a disk of its own, as to two machines. Each has
 * a fake API server of its own, and what stands there is carried from one to the other.
 */
describe("one LUN that two agents find, by iSCSI and by Fibre Channel", function () {
  this.timeout(4 * soonMs);
  let fleet: CSIFleet;
  const worlds = new Map<NodeName, VMWorld>();
  const carried = new Map<NodeName, string>();

  before(async () => {
    const script = ". test/vm/shared-lun.sh; shared_lun_start";
    execFileSync("sh", ["-c", script], { stdio: ["ignore", 2, 2] });
    for (const node of nodes) worlds.set(node, await VMWorld.start(60_000));
    fleet = createCSIFleet();
    addNodes(fleet, { n0: "n0", n1: "n1" });
    for (const role of nodes) fleet.node(role, { labels: { role }, bootID: bootID() });
  });
  after(async () => {
    await using all = new AsyncDisposableStack(); // whatever fails
    for (const world of worlds.values()) all.use(world);
  });

  const agentOf = (node: NodeName) => (worlds.get(node) as VMWorld).agent;
  const intentOf = (node: NodeName) => fleet.intents().find(({ spec }) => spec.nodeName === node);
  const stateOf = (node: NodeName) => intentOf(node)?.status.state;
  const target = (node: NodeName) => agentOf(node).target("lun");
  const deviceOf = (node: NodeName) =>
    agentOf(node)
      .mounts()
      .find(({ point }) => point === target(node))?.source;

  /** What an agent has written goes to the controller. */
  function hear(node: NodeName): void {
    const intent = intentOf(node);
    const said = intent && agentOf(node).statuses.get(intent.metadata.name);
    if (intent === undefined || said === undefined) return;
    const { attach, agentState, ...before } = intent.status;
    const gone = Object.fromEntries(Object.keys(before).map((field) => [field, null]));
    const status = JSON.parse(JSON.stringify({ ...gone, ...said, attach, agentState })) as object;
    fleet.api.patch("nodevolumeintents", intent.metadata.name, { status }, "status");
  }

  /** What the controller has written goes to the agent, which is called `node` there, and has targets of its own. */
  function tell(node: NodeName): void {
    const intent = intentOf(node);
    if (intent === undefined) return;
    const { metadata, spec, status } = intent;
    const news = JSON.stringify([metadata.generation, metadata.deletionTimestamp, spec, status.attach]);
    if (carried.get(node) === news) return;
    carried.set(node, news);
    const agent = agentOf(node);
    const mounts = spec.mounts.map((mount) => ({ ...mount, path: agent.target(basename(mount.path)) }));
    const shown = { ...agent.statuses.get(metadata.name), ...(status.attach && { attach: status.attach }) };
    const object = { ...intent, spec: { ...spec, nodeName: "node", mounts }, status: shown };
    agent.want(object as NodeVolumeIntent);
  }

  async function becomes(what: string, check: () => boolean): Promise<void> {
    const carry = async () => {
      for (const node of nodes) hear(node);
      await fleet.run(1_000);
      for (const node of nodes) tell(node);
      return check();
    };
    await until(what, soonMs, carry, () => fleet.intents().map(({ spec, status }) => [spec.grant, status]));
  }

  it("is of one of them; the other says so, and has what that has written once it is released", async () => {
    for (const role of nodes) {
      const mounts = [{ name: "host", path: "/mnt/nodevolume/lun" }];
      fleet.csiSet(role, sources[role], { nodeSelector: { role }, mounts });
    }
    fleet.start();
    await becomes("both to name what they have found", () =>
      nodes.every((node) => intentOf(node)?.status.disk !== undefined),
    );
    const found = nodes.map((node) => intentOf(node)?.status.disk);
    expect(found[0]).to.match(/^36001405fc00002/);
    expect(found[1]).to.equal(found[0]);
    await becomes("one to have it", () => nodes.some((node) => stateOf(node) === "Mounted"));
    const first = nodes.find((node) => stateOf(node) === "Mounted") ?? "n0";
    const second = first === "n0" ? "n1" : "n0";
    await becomes("the other to say so", () => fleet.waitReason(second) === `VolumeHeldElsewhere ${first}`);
    await becomes("its agent to say so, too", () => intentOf(second)?.status.waiting?.reason === "VolumeHeldElsewhere");
    expect(deviceOf(second)).to.equal(undefined);
    const ways = { n0: /\/session\d+\//, n1: /\/rport-/ };
    const place = (node: NodeName) => realpathSync(`/sys/class/block/${basename(deviceOf(node) ?? "")}`);
    expect(place(first)).to.match(ways[first]);
    writeFileSync(`${target(first)}/written`, first);

    fleet.api.remove("nodevolumesets", first);
    await becomes("the other to have it", () => stateOf(second) === "Mounted");
    expect([intentOf(first), deviceOf(first)]).to.deep.equal([undefined, undefined]);
    expect(place(second)).to.match(ways[second]);
    expect(readFileSync(`${target(second)}/written`, "utf8")).to.equal(first);
    fleet.api.remove("nodevolumesets", second);
    await becomes("nobody to have it", () => fleet.intents().length === 0);
    expect(nodes.map(deviceOf)).to.deep.equal([undefined, undefined]);
  });
});
