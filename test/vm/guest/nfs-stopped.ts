import { execFileSync } from "node:child_process";
import { statSync } from "node:fs";
import { expect } from "chai";
import { until } from "../../../hack/lib/until.ts";
import { soonMs, VMWorld } from "../../lib/kernel/agents/vm-world.ts";

const name = "node.nfs";
/** Milliseconds in which a server that stops, or is back, is noticed, and NFS has got its state back. */
const noticedMs = 120_000;

const stop = () => execFileSync("rpc.nfsd", ["0"]);
const start = () => execFileSync("rpc.nfsd", ["-N", "3", "--grace-time", "10", "--lease-time", "10", "4"]);

describe("an NFS server that stops", () => {
  let world: VMWorld;

  beforeEach(async () => {
    world = await VMWorld.start(8_000);
  });
  afterEach(async () => {
    start();
    await world[Symbol.asyncDispose]();
  });

  const nfs = (policy?: { max: "Lazy"; timeoutSeconds: number }) =>
    world.volume(name, {
      source: { nfs: { server: "127.0.0.1", path: "/" } },
      mountOptions: ["vers=4.2", "timeo=20", "retrans=1", "actimeo=1"],
      ...(policy && { unmountPolicy: policy }),
    });

  /** Writes as fast as it goes, and counts. */
  function load(): { child: ReturnType<VMWorld["run"]>; written(): number } {
    const file = world.agent.target(name);
    const count = `${world.agent.path}/count`;
    const child = world.run(
      `while dd if=/dev/zero of=${file}/load bs=64k count=4 conv=fsync 2>/dev/null; do echo >>${count}; done`,
    );
    return { child, written: () => statSync(count, { throwIfNoEntry: false })?.size ?? 0 };
  }

  it("under load is told with since, holds up no other volume, and all goes on when it is back", async () => {
    const { agent } = world;
    agent.want(nfs());
    await agent.inState(name, "Mounted", soonMs);
    const { child, written } = load();
    await until("something to be written", soonMs, () => written() > 1);

    stop();
    const status = await agent.waitsFor(name, "ServerUnreachable", noticedMs);
    expect(status.state).to.equal("Degraded");
    expect(status.waiting?.since).to.match(/^\d{4}-/);
    expect(status.waiting?.message).to.contain("nfs4 (127.0.0.1:/)");
    expect(status.drift?.class).to.equal("Stale");
    expect(status.conditions?.find(({ type }) => type === "Ready")?.status).to.equal("False");
    expect(world.isMounted(name)).to.equal(true);
    await world.othersGoOn();

    const before = written();
    start();
    const back = await agent.inState(name, "Mounted", noticedMs);
    expect(back.drift).to.equal(undefined);
    expect(back.waiting).to.equal(undefined);
    await until("the load to go on", noticedMs, () => written() > before + 1);
    expect(child.exitCode).to.equal(null);
    await world.end(child);
    agent.revoke(name);
    await agent.inState(name, "Released", noticedMs);
  });

  it("and does not come back: the volume is unmounted by the ladder, beside others that go on", async () => {
    const { agent } = world;
    agent.want(nfs({ max: "Lazy", timeoutSeconds: 5 }));
    await agent.inState(name, "Mounted", soonMs);
    const { written } = load();
    await until("something to be written", soonMs, () => written() > 1);
    stop();
    await agent.waitsFor(name, "ServerUnreachable", noticedMs);
    agent.revoke(name);
    await agent.inState(name, "Unmounting");
    await world.othersGoOn();
    await agent.inState(name, "Released", 180_000);
    expect(world.isMounted(name)).to.equal(false);
  });
});
