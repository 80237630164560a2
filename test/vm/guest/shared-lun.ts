import { execFileSync } from "node:child_process";
import { realpathSync } from "node:fs";
import { basename } from "node:path";
import { soonMs, VMWorld } from "../../lib/kernel/agents/vm-world.ts";
import { ControlledAgents } from "../../lib/kernel/controlled-agents.ts";
import { oneAtATime } from "../../lib/kernel/disks/lun-of-two.ts";

/** What test/vm/shared-lun.sh shows, by each of its ways. */
const sources = {
  n0: { iscsi: { targetPortal: "127.0.0.1:3262", iqn: "iqn.2024-01.example:shared", lun: 2, fsType: "ext4" } },
  n1: { fc: { targetWWNs: (process.env["NODEVOLUME_FC_TARGETS"] ?? "").split(" "), lun: 2, fsType: "ext4" } },
} as const;
/** Where sysfs has disks of each. */
const places: { readonly [node: string]: RegExp } = { n0: /\/session\d+\//, n1: /\/rport-/ };

/** test/real/shared-lun.test.ts has the same with what stands for LUNs. */
describe("one LUN that two agents find, by iSCSI and by Fibre Channel", function () {
  this.timeout(8 * soonMs);
  const worlds: VMWorld[] = [];
  let both: ControlledAgents;

  before(async () => {
    execFileSync("sh", ["-ec", ". test/vm/shared-lun.sh; shared_lun_start"], { stdio: ["ignore", 2, 2] });
    for (const _ of Object.keys(sources)) worlds.push(await VMWorld.start(soonMs));
    const agents = Object.keys(sources).flatMap((node, at) => {
      const agent = worlds[at]?.agent;
      return agent === undefined ? [] : [[node, agent] as const];
    });
    both = new ControlledAgents(new Map(agents), 2 * soonMs); // a dozen children each
  });
  after(async () => {
    await using all = new AsyncDisposableStack(); // whatever fails
    for (const world of worlds) all.use(world);
  });

  it("is of one of them; the other says so, and has what that has written once it is released", async () => {
    for (const [node, source] of Object.entries(sources)) both.set(node, source);
    const isWayOf = (node: string, device: string) =>
      places[node]?.test(realpathSync(`/sys/class/block/${basename(device)}`)) === true;
    await oneAtATime(both, { nodes: ["n0", "n1"], name: /^36001405fc00002/, isWayOf });
  });
});
