import { type ChildProcess, execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdirSync } from "node:fs";
import { expect } from "chai";
import { FuseServer } from "../../hack/lib/agent-on-kernel/fuse/fuse-server.ts";
import { buildPrograms, type Programs } from "../../hack/lib/agent-on-kernel/programs.ts";
import { slow } from "../../hack/lib/lanes/slow.ts";
import { need } from "../lib/asserts/requirements.ts";
import { HungWorld } from "../lib/kernel/agents/hung-world.ts";
import { withProcesses } from "../lib/kernel/processes.ts";
import { scratch } from "./scratch.ts";

describe("a forced unmount, and a FUSE server that others use too (decision 0020)", () => {
  let programs: Programs;
  const processes = withProcesses();

  before(async function () {
    need(this, "root", "fuse");
    programs = await buildPrograms();
  });

  async function sitIn(directory: string): Promise<ChildProcess> {
    const process = spawn("sleep", ["120"], { cwd: directory });
    processes.push(process);
    await once(process, "spawn");
    return process;
  }
  const answers = (server: FuseServer) => spawnSync("stat", [`${server.point}/data/a`]).status === 0;

  it("the kernel ends the connection of everybody, for a bind that stays mounted", async () => {
    using place = scratch();
    for (const name of ["fuse", "bind"]) mkdirSync(`${place.path}/${name}`);
    await using server = await FuseServer.start(`${place.path}/fuse`, programs.fuse);
    execFileSync("mount", ["--bind", `${server.point}/data`, `${place.path}/bind`]);
    await sitIn(`${place.path}/bind`);
    expect(answers(server)).to.equal(true);
    expect(spawnSync("umount", ["-f", `${place.path}/bind`]).status, "it is busy").to.not.equal(0);
    expect(answers(server)).to.equal(false);
  });

  slow(
    "so a bind of ours is never forced: from Normal it goes to Lazy, with consent, and the server goes on",
    async function () {
      this.timeout(90_000);
      await using world = await HungWorld.start(programs);
      const { agent, server } = world;
      const name = "node.busy";
      agent.want(world.beneath(name, { unmountPolicy: { max: "Lazy", timeoutSeconds: 5 } }));
      await agent.inState(name, "Mounted");
      await sitIn(agent.target(name));
      agent.revoke(name);
      const busy = await agent.waitsFor(name, "TargetBusy");
      expect(busy.waiting?.message).to.contain("(sleep)");
      await agent.inState(name, "Released", 60_000);
      expect(world.isMounted(name)).to.equal(false);
      expect(answers(server)).to.equal(true);
    },
  );
});
