import { readdirSync } from "node:fs";
import { expect } from "chai";
import { until } from "../../../hack/lib/until.ts";
import { cephFSOfVM, contractDirectory, keyOfVM } from "../../contract/ceph-kernel-cases.ts";
import { need } from "../../lib/asserts/requirements.ts";
import { soonMs, VMWorld } from "../../lib/kernel/agents/vm-world.ts";
import { tellCluster } from "../../lib/servers/ceph-control.ts";

const name = "node.ceph";
/** Milliseconds in which a cluster that goes away is noticed. */
const noticedMs = 120_000;

describe("a Ceph cluster that dies", () => {
  let world: VMWorld;

  before(function () {
    need(this, "ceph-cluster");
  });
  beforeEach(async () => {
    world = await VMWorld.start();
  });
  afterEach(async () => {
    await using _world = world; // also when the cluster does not begin
    await tellCluster({ begin: true });
  });

  it("under load, and does not come back: told with since, unmounted by the ladder, beside others that go on", async () => {
    const { agent } = world;
    agent.writeSecret({ namespace: "default", name: "ceph", values: { key: keyOfVM() } });
    const source = { cephfs: cephFSOfVM({ path: contractDirectory }) };
    agent.want(world.volume(name, { source, unmountPolicy: { max: "Lazy", timeoutSeconds: 5 } }));
    await agent.inState(name, "Mounted", soonMs);
    const [file, count] = [`${agent.target(name)}/load`, `${agent.path}/count`];
    world.run(`while dd if=/dev/zero of=${file} bs=64k count=4 2>/dev/null; do echo >>${count}; done`);
    await until("something to be written", soonMs, () => readdirSync(agent.path).includes("count"));
    await tellCluster({ kill: true });
    const status = await agent.waitsFor(name, "ServerUnreachable", noticedMs);
    expect([status.state, status.drift?.class]).to.deep.equal(["Degraded", "Stale"]);
    expect(status.waiting?.since).to.match(/^\d{4}-/);
    agent.revoke(name);
    await agent.inState(name, "Unmounting", noticedMs);
    await world.othersGoOn(soonMs);
    await agent.inState(name, "Released", 240_000);
    expect(world.isMounted(name)).to.equal(false);
  });
});
