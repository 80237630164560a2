import { mkdirSync } from "node:fs";
import { expect } from "chai";
import { FuseServer } from "../../hack/lib/agent-on-kernel/fuse/fuse-server.ts";
import { silent } from "../../hack/lib/silent-log.ts";
import { until } from "../../hack/lib/until.ts";
import { LinuxServers } from "../../src/host/linux/mount/linux-servers.ts";
import { realSystem } from "../../src/system.ts";
import { need } from "../lib/asserts/requirements.ts";
import { type Scratch, scratch } from "./scratch.ts";

const answers = { answers: true } as const;
const doesNot = { answers: false } as const;

describe("whether a server answers, asked of a FUSE server", () => {
  let place: Scratch;
  let server: FuseServer;
  let servers: LinuxServers;

  before(function () {
    need(this, "root", "fuse");
  });
  beforeEach(async () => {
    place = scratch();
    mkdirSync(`${place.path}/fuse`);
    server = await FuseServer.start(`${place.path}/fuse`);
    servers = new LinuxServers(realSystem(silent).timers);
  });
  afterEach(async () => {
    await server[Symbol.asyncDispose]();
    place[Symbol.dispose]();
  });

  const ask = (ms: number) =>
    servers.ask({ fsType: "fuse.test", source: "test-server", point: `${place.path}/fuse` }, ms);

  it("it does, it has stopped, it goes on", async () => {
    expect(await ask(5_000)).to.deep.equal(answers);
    await server.stop();
    expect(await ask(200)).to.deep.equal(doesNot);
    server.go();
    await until("an answer", 5_000, async () => (await ask(5_000)).answers); // the one that was killed has to end first
  });

  it("a process that cannot be killed is waited for, and no second one is started", async () => {
    await server.hold();
    expect(await ask(200)).to.deep.equal(doesNot);
    const began = performance.now();
    expect(await ask(5_000)).to.deep.equal(doesNot);
    expect(performance.now() - began, "without waiting").to.be.below(1_000);
    await server.resume();
  });

  it("gone for good: what the kernel says", async () => {
    await server.die();
    expect(await ask(5_000)).to.deep.equal({ answers: false, said: "Transport endpoint is not connected" });
  });
});
