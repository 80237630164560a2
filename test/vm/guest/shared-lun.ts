import { execFileSync } from "node:child_process";
import { realpathSync } from "node:fs";
import { basename } from "node:path";
import { expect } from "chai";
import { intent } from "../../../hack/lib/agent-on-kernel/intent.ts";
import { asVolumeName } from "../../../src/agent/model/identities.ts";
import { decideDisk } from "../../../src/controller/grants/decide-disk.ts";
import { soonMs } from "../../lib/kernel/agents/vm-world.ts";
import { RealNode } from "../../lib/kernel/real-node.ts";

const targetWWNs = (process.env["NODEVOLUME_FC_TARGETS"] ?? "").split(" ").slice(0, 1);
/** What test/vm/shared-lun.sh shows, by each of its ways. */
const sources = [
  { iscsi: { targetPortal: "127.0.0.1:3262", iqn: "iqn.2024-01.example:shared", lun: 2, fsType: "ext4" } },
  { fc: { targetWWNs, lun: 2, fsType: "ext4" } },
] as const;
const volume = asVolumeName("node.volume-1");

/** test/real/shared-lun.test.ts has two agents and a controller, with what stands for the ways. */
describe("one LUN that two nodes find, by iSCSI and by Fibre Channel", function () {
  this.timeout(4 * soonMs);
  let nodes: readonly RealNode[] = [];

  before(() => {
    execFileSync("sh", ["-ec", ". test/vm/shared-lun.sh; shared_lun_start"], { stdio: ["ignore", 2, 2] });
    nodes = sources.map(() => new RealNode());
    for (const node of nodes) node.deadlineMs = soonMs;
  });
  after(async () => {
    await using all = new AsyncDisposableStack(); // whatever fails
    for (const node of nodes) all.use(node);
  });

  /** What a node makes of its way, as the controller has granted it so far. */
  async function outcome(at: number, disk: string, deleting = false) {
    const [node, source] = [nodes[at], sources[at]];
    if (node === undefined || source === undefined) throw new Error("there are two");
    const more = { grant: { id: "g", disk }, deleting, generation: deleting ? 2 : 1 };
    const asked = intent({ source, mounts: [{ path: node.target("lun") }], ...more });
    node.forgetFailures();
    node.want(asked);
    const { failure, phase } = await node.volume(volume);
    const { sharedDisk = "" } = (await node.journal()).records.get(volume) ?? {};
    return { asked, failure, phase, sharedDisk, mount: node.mountAt(node.target("lun")) };
  }

  it("has one name by both; one of them gets it, and writes to it by its own way", async () => {
    const found = [await outcome(0, ""), await outcome(1, "")];
    for (const { failure, mount } of found)
      expect([failure?.reason, mount], failure?.message).to.deep.equal(["DiskNotCompared", undefined]);
    const [name = "", other] = found.map(({ sharedDisk }) => sharedDisk);
    expect(name).to.match(/^36001405fc00002/);
    expect(other).to.equal(name);

    const members = found.map(({ asked, sharedDisk: disk }, at) => {
      const spec = { ...asked.spec, nodeName: `n${at}` };
      const metadata = { ...asked.metadata, name: `n${at}.lun` };
      return { intent: { ...asked, metadata, spec, status: { observedUID: metadata.uid, disk } }, giving: undefined };
    });
    const [first, second] = decideDisk(members as unknown as Parameters<typeof decideDisk>[0]);
    expect(first).to.include({ give: name });
    expect(second).to.have.nested.property("waitReason.reason", "VolumeHeldElsewhere");
    expect(second).to.have.nested.property("waitReason.on.node", "n0");

    const { failure, mount } = await outcome(0, name);
    expect(failure?.message).to.equal(undefined);
    expect(realpathSync(`/sys/class/block/${basename(mount?.source ?? "")}`)).to.match(/\/session\d+\//);
    for (const at of [1, 0]) expect((await outcome(at, at === 0 ? name : "", true)).phase).to.equal("released");
  });
});
