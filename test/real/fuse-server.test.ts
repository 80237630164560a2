import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { mkdir, readdir, readFile, rmdir, stat, statfs } from "node:fs/promises";
import { expect } from "chai";
import { FuseServer } from "../../hack/lib/agent-on-kernel/fuse/fuse-server.ts";
import { until } from "../../hack/lib/until.ts";
import { need } from "../lib/asserts/requirements.ts";
import { type Scratch, scratch } from "./scratch.ts";

describe("FuseServer, the file system of our own that tests hang on", () => {
  let place: Scratch;
  let server: FuseServer;
  const asking: ChildProcess[] = [];

  before(function () {
    need(this, "root", "fuse");
  });
  beforeEach(async () => {
    place = scratch();
    mkdirSync(`${place.path}/fuse`);
    mkdirSync(`${place.path}/connections`);
    execFileSync("mount", ["-t", "fusectl", "connections", `${place.path}/connections`]);
    server = await FuseServer.start(`${place.path}/fuse`);
  });
  afterEach(async () => {
    await server[Symbol.asyncDispose]();
    for (const process of asking.splice(0)) {
      process.kill("SIGKILL");
      if (process.exitCode === null && process.signalCode === null) await once(process, "exit");
    }
    place[Symbol.dispose]();
  });

  /** A process that asks the server: this one must not, it would hang itself. */
  function ask(): ChildProcess {
    const process = spawn("stat", [`${server.point}/data/a`], { stdio: "ignore" });
    asking.push(process);
    return process;
  }
  /**
   * Resolves when so many requests are in the server's queue. That who asks sleeps says nothing: he does before, too.
   */
  async function queued(requests: number): Promise<void> {
    const connection = place
      .mounts()
      .find(({ point }) => point === server.point)
      ?.device.split(":")[1];
    const queue = `${place.path}/connections/${connection}/waiting`;
    await until("the request to be in the queue", 5_000, () => Number(readFileSync(queue, "utf8")) === requests);
  }
  const stateOf = ({ pid }: ChildProcess) => readFileSync(`/proc/${pid}/stat`, "latin1").split(" ")[2];

  it("shows a small tree, and lets directories be made", async () => {
    expect(await readdir(server.point)).to.have.members(["data", "file"]);
    expect(await readFile(`${server.point}/data/a`, "utf8")).to.equal("this is a\n");
    expect((await stat(`${server.point}/data`)).isDirectory()).to.equal(true);
    expect((await statfs(server.point)).bsize).to.equal(4096);
    await mkdir(`${server.point}/data/made`);
    expect(await readdir(`${server.point}/data`)).to.include("made");
    await rmdir(`${server.point}/data/made`);
    expect(await readdir(`${server.point}/data`)).to.not.include("made");
  });

  it("stopped: who asks waits, and can be killed; it goes on where it was", async () => {
    await stat(server.point); // with that the kernel's own first request is answered
    await server.stop();
    // One after the other: who looks up the same name as somebody before him waits for him in the kernel, and cannot be
    // killed.
    const killed = ask();
    await queued(1);
    const ended = once(killed, "exit");
    killed.kill("SIGKILL");
    expect(await ended).to.deep.equal([null, "SIGKILL"]);
    await queued(0);
    const waits = ask();
    await queued(1);
    const exit = once(waits, "exit");
    server.go();
    expect(await exit).to.deep.equal([0, null]);
  });

  it("holding: who asks cannot even be killed, until it is answered", async () => {
    await server.hold();
    const waits = ask();
    await until("the request to be taken", 5_000, () => server.held > 0);
    waits.kill("SIGKILL");
    await until("it to be uninterruptible", 5_000, () => stateOf(waits) === "D");
    const exit = once(waits, "exit");
    await server.resume();
    expect(await exit).to.deep.equal([null, "SIGKILL"]);
  });

  it("dead: who asks gets an error, and so does who waits; a new one serves the same place", async () => {
    await server.hold();
    const waits = ask();
    await until("the request to be taken", 5_000, () => server.held > 0);
    const exit = once(waits, "exit");
    await server.die();
    expect(await exit).to.deep.equal([1, null]);
    expect(existsSync(`${server.point}/data`)).to.equal(false);
    await server.comeBack();
    expect(await readFile(`${server.point}/file`, "utf8")).to.contain("this is");
  });

  it("slow: each answer takes its time", async () => {
    await server.slow(100);
    const before = performance.now();
    await stat(`${server.point}/data`);
    expect(performance.now() - before).to.be.greaterThan(99);
  });
});
