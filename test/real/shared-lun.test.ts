import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { KernelAgent } from "../../hack/lib/agent-on-kernel/kernel-agent.ts";
import { buildPrograms } from "../../hack/lib/agent-on-kernel/programs.ts";
import { slow } from "../../hack/lib/lanes/slow.ts";
import { need } from "../lib/asserts/requirements.ts";
import { attachedStandIn } from "../lib/fakes/attached-stand-in.ts";
import { ControlledAgents } from "../lib/kernel/controlled-agents.ts";
import { loopDevice } from "../lib/kernel/disks/loop-device.ts";
import { oneAtATime } from "../lib/kernel/disks/lun-of-two.ts";

const nodes = ["n0", "n1"] as const;
const wwid = `naa.6001405fc00002${"0".repeat(18)}`;
const patience = 60_000;

/** Two loop devices of one file stand for two ways to a LUN, and sysfs says so by a stand-in. */
describe("one disk that two agents find, by ways of iSCSI and Fibre Channel that are stand-ins", () => {
  let all: AsyncDisposableStack;
  let both: ControlledAgents;
  let disks: readonly [string, string];

  before(async function () {
    need(this, "root", "loop-devices", "mkfs.ext4", "ext4");
    this.timeout(patience);
    all = new AsyncDisposableStack();
    const place = mkdtempSync(`${tmpdir()}/nvo-lun-`);
    all.defer(() => rmSync(place, { recursive: true }));
    const first = all.use(loopDevice(place, "lun", 64)).path;
    const second = execFileSync("losetup", ["--find", "--show", `${place}/lun`], { encoding: "utf8" }).trim();
    all.defer(() => void execFileSync("losetup", ["--detach", second]));
    disks = [first, second];
    mkdirSync(`${place}/sys`);
    const [iscsi, fc] = disks.map((path, at) => ({ path, by: at === 0 ? "session1" : "rport-3:0-1", wwid }));
    if (iscsi === undefined || fc === undefined) throw new Error("there are two");
    all.use(attachedStandIn(`${place}/sys`, iscsi, fc));
    const programs = await buildPrograms();
    const agents = nodes.map((node) => [node, all.use(new KernelAgent(programs))] as const);
    for (const [, agent] of agents) await agent.start();
    both = new ControlledAgents(new Map(agents), patience);
  });
  after(() => all?.disposeAsync());

  slow("is of one of them; the other says so, and has what that has written once it is released", async () => {
    for (const [at, node] of nodes.entries()) both.set(node, { local: { path: disks[at] } }, { fsType: "ext4" });
    const name = new RegExp(`^36001405fc00002${"0".repeat(18)}$`);
    await oneAtATime(both, { nodes, name, isWayOf: (node, device) => device === disks[node === "n0" ? 0 : 1] });
  });
});
