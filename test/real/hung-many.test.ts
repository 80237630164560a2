import { expect } from "chai";
import { buildPrograms, type Programs } from "../../hack/lib/agent-on-kernel/programs.ts";
import { slow } from "../../hack/lib/lanes/slow.ts";
import { until } from "../../hack/lib/until.ts";
import { need } from "../lib/asserts/requirements.ts";
import { HungWorld } from "../lib/kernel/agents/hung-world.ts";

const hung = "node.hung";
/** Children beside each other, those that were given up among them (child-slots.ts). */
const mostChildren = 28;

describe("volumes that hang", () => {
  let programs: Programs;
  let world: HungWorld;

  before(async function () {
    need(this, "root", "fuse");
    programs = await buildPrograms();
  });
  afterEach(async () => {
    await world[Symbol.asyncDispose]();
  });

  slow("twenty of one server: caps hold, others go on, all recover by themselves", async function () {
    this.timeout(120_000);
    world = await HungWorld.start(programs);
    const { agent, server } = world;
    const names = Array.from({ length: 20 }, (_, i) => `node.hung-${i}`);
    await server.hold();
    for (const name of names) agent.want(world.beneath(name));
    const reasons = ["NotAnswering", "OperationAbandoned", "ProcessLimitReached"];
    const said = (name: string) => reasons.includes(agent.statuses.get(name)?.waiting?.reason ?? "");
    await until("each to say what it waits for", 40_000, () => names.every(said));
    await world.othersGoOn();
    expect(world.children().length).to.be.within(1, mostChildren + 1);
    await server.resume();
    await Promise.all(names.map((name) => agent.inState(name, "Mounted", 40_000)));
    await until("the children to end", 10_000, () => world.children().length <= 1);
    agent.revoke(...names);
    await Promise.all(names.map((name) => agent.inState(name, "Released")));
  });

  slow("a child that an agent before has left is found again: the volume waits for it, and it alone", async () => {
    world = await HungWorld.start(programs);
    const { agent, server } = world;
    await server.hold();
    agent.want(world.beneath(hung));
    await agent.waitsFor(hung, "NotAnswering");
    const child = Number(/process (\d+)/.exec(agent.statuses.get(hung)?.waiting?.message ?? "")?.[1]);
    await agent.kill();
    expect(world.children()).to.include(child);
    await agent.start();
    const { waiting } = await agent.waitsFor(hung, "OperationAbandoned");
    expect(waiting?.on).to.deep.equal({ kind: "Process", name: `${child}` });
    expect(waiting?.message).to.contain(`fuse.test (test-server) at ${server.point}`);
    await world.othersGoOn();
    agent.revoke(hung);
    await agent.inState(hung, "Unmounting");
    expect(agent.statuses.get(hung)?.waiting?.message, "no second one is started").to.contain(`process ${child}`);
    await server.resume();
    await agent.inState(hung, "Released", 15_000);
    await until("the children to end", 10_000, () => world.children().length <= 1);
  });

  slow("a prefix beneath a server that stops: its targets wait, others go on, both ways", async () => {
    world = await HungWorld.start(programs, (path) => ({ prefixes: [`${path}/mnt`, `${path}/src/fuse/data`] }));
    const { agent, server } = world;
    const mounts = [{ path: `${server.point}/data/made/target` }];
    const wanted = world.volume(hung, agent.path, { mounts });
    await server.stop();
    agent.want(wanted);
    expect((await agent.waitsFor(hung, "NotAnswering")).waiting?.on?.name).to.equal(server.point);
    await world.othersGoOn();
    server.go();
    await agent.inState(hung, "Mounted", 10_000);
    await server.stop();
    agent.revoke(hung);
    await agent.waitsFor(hung, "NotAnswering");
    await world.othersGoOn();
    server.go();
    await agent.inState(hung, "Released", 10_000);
  });
});
