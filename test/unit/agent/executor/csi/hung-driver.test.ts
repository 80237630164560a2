import { expect } from "chai";
import { noDrivers } from "../../../../../hack/lib/no-drivers.ts";
import { asVolumeName } from "../../../../../src/agent/model/identities.ts";
import { obstacleOf } from "../../../../../src/agent/status/volume-summary.ts";
import type { NodeService } from "../../../../../src/csi/ports.ts";
import { wanted } from "../../../../lib/builders/plan-world.ts";
import { at, FakeAgent, held } from "../../fake-agent.ts";

const name = asVolumeName("node.hung");
const source = { csi: { driver: "a.example", volumeHandle: "v" } };
const grant = { id: "g", csi: { ...source.csi, accessMode: "ReadWriteOnce" as const } };
const hung = (more: object = {}) => wanted({ name, source, grant, mounts: [{ path: "/mnt/hung" }], ...more });

describe("a CSI driver that hangs", () => {
  it("holds up its own volume only, which says so, stays in use, and goes on with the answer", async () => {
    const agent = await FakeAgent.start();
    const answer = held();
    const calls: string[] = [];
    const capabilities = { stageUnstage: true, singleNodeMultiWriter: false } as Awaited<
      ReturnType<NodeService["capabilities"]>
    >;
    const node = {
      capabilities: async () => capabilities,
      async stage() {
        calls.push("stage");
        await answer.promise;
      },
      unstage: async () => void calls.push("unstage"),
    } as unknown as NodeService;
    agent.drivers = { ...noDrivers, driver: () => ({ name: "a.example", endpoint: "/a.sock", node }) };

    await agent.want(hung(), at("other"));
    expect(agent.mounted).to.deep.equal(["/mnt/other"]);
    await agent.want(hung(), at("other"), at("later", "node.volume-2"));
    expect(agent.mounted).to.deep.equal(["/mnt/other", "/mnt/later"]);
    const plan = () => agent.plan?.volumes.get(name);
    expect(plan()?.running).to.equal("stage");
    expect(plan()?.stuckOperation).to.equal(undefined);
    await agent.system.advance(3_100);
    await agent.look();
    const told = plan();
    if (told === undefined) throw new Error("not planned");
    expect(obstacleOf(told)?.reason).to.equal("NotAnswering");

    // Wanted no more: nothing is done while it may still be staged (law L4, safety rule 8).
    await agent.want(hung({ deleting: true, generation: 2 }), at("other"));
    expect([calls, plan()?.phase, plan()?.actualState.inUse]).to.deep.equal([["stage"], "tearDown", true]);
    answer.release();
    await agent.look();
    expect([calls, plan()?.phase]).to.deep.equal([["stage", "unstage"], "released"]);
  });
});
