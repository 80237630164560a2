import { expect } from "chai";
import type { FuseServer } from "../../hack/lib/agent-on-kernel/fuse/fuse-server.ts";
import type { KernelAgent } from "../../hack/lib/agent-on-kernel/kernel-agent.ts";
import { buildPrograms, type Programs } from "../../hack/lib/agent-on-kernel/programs.ts";
import { slow } from "../../hack/lib/lanes/slow.ts";
import { until } from "../../hack/lib/until.ts";
import { need } from "../lib/asserts/requirements.ts";
import { HungWorld } from "../lib/kernel/agents/hung-world.ts";

const hung = "node.hung";

describe("a FUSE server beneath a hostPath source", () => {
  let programs: Programs;
  let world: HungWorld;
  let agent: KernelAgent;
  let server: FuseServer;

  before(async function () {
    need(this, "root", "fuse");
    programs = await buildPrograms();
  });
  beforeEach(async () => {
    world = await HungWorld.start(programs);
    ({ agent, server } = world);
  });
  afterEach(async () => {
    await world[Symbol.asyncDispose]();
  });

  it("running: a directory of it is mounted and released like any other", async () => {
    agent.want(world.beneath(hung));
    await agent.inState(hung, "Mounted");
    agent.revoke(hung);
    await agent.inState(hung, "Released");
  });

  slow("stopped before the volume is staged: its status says so, others go on, and it recovers by itself", async () => {
    await server.stop();
    agent.want(world.beneath(hung));
    const { waiting, state } = await agent.waitsFor(hung, "NotAnswering");
    expect(state).to.equal("Waiting");
    expect(waiting?.message).to.contain(`fuse.test (test-server) at ${server.point}`);
    expect(waiting?.on).to.deep.equal({ kind: "Mount", name: server.point });
    await world.othersGoOn();
    expect((await agent.waitsFor(hung, "TimedOut", 10_000)).waiting?.on?.name).to.equal(server.point);
    await world.othersGoOn();
    server.go();
    await agent.inState(hung, "Mounted", 10_000);
  });

  slow("holding: the child cannot even be killed; it is counted, and nothing is lost when it is answered", async () => {
    await server.hold();
    agent.want(world.beneath(hung));
    const { waiting } = await agent.waitsFor(hung, "OperationAbandoned", 15_000);
    expect(waiting?.on?.kind).to.equal("Process");
    expect(waiting?.message).to.contain(`fuse.test (test-server) at ${server.point}`);
    await world.othersGoOn();
    await server.resume();
    await agent.inState(hung, "Mounted", 10_000);
  });

  it("stopped while mounted: it is unmounted without asking the server", async () => {
    agent.want(world.beneath(hung));
    await agent.inState(hung, "Mounted");
    await server.stop();
    agent.revoke(hung);
    await agent.inState(hung, "Released", 5_000);
    expect(world.isMounted(hung)).to.equal(false);
  });

  it("dead while mounted: it is unmounted", async () => {
    agent.want(world.beneath(hung));
    await agent.inState(hung, "Mounted");
    await server.die();
    agent.revoke(hung);
    await agent.inState(hung, "Released", 5_000);
    expect(world.isMounted(hung)).to.equal(false);
  });

  it("dead before it is staged: the status says that the server is gone, and what to do", async () => {
    await server.die();
    agent.want(world.beneath(hung));
    const { waiting } = await agent.waitsFor(hung, "ServerUnreachable");
    expect(waiting?.message).to.contain("is gone (ENOTCONN)");
    expect(waiting?.on).to.deep.equal({ kind: "Mount", name: server.point });
    await world.othersGoOn();
    await server.comeBack();
    await agent.inState(hung, "Mounted", 10_000);
  });

  slow("the mount itself as the source: the same", async () => {
    await server.stop();
    agent.want(world.volume(hung, server.point));
    expect((await agent.waitsFor(hung, "NotAnswering")).waiting?.on?.name).to.equal(server.point);
    server.go();
    await agent.inState(hung, "Mounted", 10_000);
  });

  it("that stops at any request of a set-up: it is mounted once it answers again, and nothing is left of it", async () => {
    let last = 0;
    for (let answered = 0; ; answered++) {
      const before = server.held;
      await server.hold(answered);
      agent.want(world.beneath(hung, { uid: `uid-${answered}` }));
      const mounted = agent.inState(hung, "Mounted");
      const stopped = until("a request to be held", 30_000, () => server.held > before);
      if ((await Promise.race([mounted.then(() => "mounted"), stopped.then(() => "stopped")])) === "mounted") {
        stopped.catch(() => {}); // no request is left to be held
        last = answered;
        await server.resume();
      } else {
        await server.resume();
        await mounted;
      }
      agent.revoke(hung);
      await agent.inState(hung, "Released");
      agent.statuses.delete(hung);
      expect(world.isMounted(hung)).to.equal(false);
      if (last > 0) break;
    }
    expect(last, "requests that a set-up makes").to.be.greaterThan(2);
  });

  slow("mode Observe: the look hangs, is told, and ends with the server's answer", async () => {
    await server.stop();
    const { grant: _none, ...spec } = world.beneath(hung, { mode: "Observe" }).spec;
    agent.want({ ...world.beneath(hung), spec });
    expect((await agent.waitsFor(hung, "NotAnswering")).state).to.equal("Observed");
    await world.othersGoOn();
    server.go();
    await agent.status(
      hung,
      "compared",
      ({ conditions }) => conditions?.some((c) => c.reason === "WouldChange") === true,
    );
  });
});
