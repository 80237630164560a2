import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, statSync } from "node:fs";
import { expect } from "chai";
import { until } from "../../../hack/lib/until.ts";
import type { NodeVolumeIntentStatus } from "../../../src/api/types.gen.ts";
import { full } from "../../lib/asserts/requirements.ts";
import { soonMs, VMWorld } from "../../lib/kernel/agents/vm-world.ts";

const conf = "/mnt/smb/smb.conf";
/** Milliseconds in which a server that stops, or is back, is noticed. */
const noticedMs = 120_000;
const [a, b] = ["node.a", "node.b"] as const;
const namespaceOf = (name: string) => name.replace(".", "-");

/** Only in the VM are all of them ours. */
const stop = () => spawnSync("pkill", ["-KILL", "-x", "smbd"]);
/** It listens a while later. */
async function start(): Promise<void> {
  execFileSync("smbd", ["-D", "-s", conf]);
  await until("smbd to listen", 60_000, () => spawnSync("bash", ["-c", "</dev/tcp/127.0.0.1/445"]).status === 0);
}
function setPassword(user: string, password: string): void {
  execFileSync("smbpasswd", ["-c", conf, "-s", user], { input: `${password}\n${password}\n` });
}

describe("CIFS shares of two users", () => {
  let world: VMWorld;

  beforeEach(async () => {
    world = await VMWorld.start();
  });
  afterEach(async () => {
    await using all = new AsyncDisposableStack(); // whatever fails, from the last to the first
    all.use(world);
    all.defer(start);
    stop();
    setPassword("ua", "ua,pw");
  });

  const mountOptions = ["vers=3.1.1", "echo_interval=2", "actimeo=1"];
  const cifs = (name: string, share: string, more: object = {}) =>
    world.volume(name, {
      source: { cifs: { server: "127.0.0.1", share, secretRef: { namespace: namespaceOf(name), name: "files" } } },
      mountOptions,
      ...more,
    });
  const secret = (name: string, username: string, password: string) =>
    world.agent.writeSecret({ namespace: namespaceOf(name), name: "files", values: { username, password } });
  const mountsOf = (name: string) => world.mountsOf(name);

  async function setUp(): Promise<void> {
    secret(a, "ua", "ua,pw");
    secret(b, "ub", "ub,pw");
    world.agent.want(cifs(a, "a"), cifs(b, "b share"));
    await Promise.all([a, b].map((name) => world.agent.inState(name, "Mounted", soonMs)));
  }

  it("a server that stops and is back: told with since, nothing is mounted anew", async () => {
    await setUp();
    const before = [mountsOf(a), mountsOf(b)];
    stop();
    const status = await world.agent.waitsFor(a, "ServerUnreachable", noticedMs);
    expect([status.state, status.drift?.class]).to.deep.equal(["Degraded", "Stale"]);
    await world.othersGoOn();
    await start();
    await Promise.all([a, b].map((name) => world.agent.inState(name, "Mounted", noticedMs)));
    expect([mountsOf(a), mountsOf(b)]).to.deep.equal(before);
    expect(before.map((mounts) => mounts.length)).to.deep.equal([2, 2]);
  });

  it("a password that changes: that volume is mounted anew when the server refuses it, the other stays, and it is said nowhere", async () => {
    const { agent } = world;
    await setUp();
    const [ofA, ofB] = [mountsOf(a), mountsOf(b)];
    const mountedWith = agent.statuses.get(a)?.contentVersion;
    secret(a, "ua", "ua,new");
    await world.othersGoOn();
    expect(mountsOf(a), "the session goes on").to.deep.equal(ofA);

    stop();
    setPassword("ua", "ua,new");
    await start();
    // Not by its mounts: the kernel gives the same numbers again.
    const isAnew = ({ state, contentVersion }: NodeVolumeIntentStatus) =>
      state === "Mounted" && contentVersion !== undefined && contentVersion !== mountedWith;
    await agent.status(a, "mounted with the new password", isAnew, 2 * noticedMs);
    await agent.inState(b, "Mounted", noticedMs);
    expect(readdirSync(agent.target(a))).to.include("here");
    expect(mountsOf(b)).to.deep.equal(ofB);
    const statuses = JSON.stringify([...agent.statuses]);
    for (const password of ["ua,pw", "ua,new"]) {
      expect(statuses).to.not.contain(password);
      expect(journalOf(agent.path)).to.not.contain(password);
    }
  });

  const adopt = { adopt: "IfSame" };
  function mountBySomebody(name: string, share: string, user: string, options: readonly string[]): string | undefined {
    const { agent } = world;
    mkdirSync(agent.target(name));
    const all = [...options, `username=${user}`].join(",");
    const env = { ...process.env, PASSWD: `${user},pw` };
    execFileSync("mount", ["-t", "cifs", `//127.0.0.1/${share}`, agent.target(name), "-o", all], { env });
    return agent.mounts().find(({ point }) => point === agent.target(name))?.device;
  }

  it("a share that somebody else has mounted is taken over if the kernel says that it is the same", async () => {
    const { agent } = world;
    const device = mountBySomebody(a, "a", "ua", mountOptions);
    secret(a, "ua", "ua,pw");
    agent.want(cifs(a, "a", adopt));
    await agent.inState(a, "Mounted", soonMs);
    expect(mountsOf(a).map((mount) => mount.split(" ")[1])).to.deep.equal([device, device]);
    agent.revoke(a);
    await agent.inState(a, "Released", soonMs);
    expect(world.isMounted(a)).to.equal(false);
  });

  const inFull = full() ? it : () => {};
  inFull("a share that somebody else has mounted is left alone if the kernel says that it is another", async () => {
    const { agent } = world;
    mountBySomebody(b, "b share", "ub", [...mountOptions, "uid=1000"]);
    try {
      secret(b, "ub", "ub,pw");
      agent.want(cifs(b, "b share", adopt));
      const { waiting } = await agent.waitsFor(b, "ForeignMount", soonMs);
      expect(waiting?.message).to.include("nor the same to the kernel");
      agent.revoke(b);
      await agent.inState(b, "Released", soonMs);
      expect(world.isMounted(b)).to.equal(true);
    } finally {
      execFileSync("umount", [agent.target(b)]);
    }
  });

  it("credentials that are refused: told so, and mounted as soon as the Secret has others", async () => {
    const { agent } = world;
    secret(a, "ua", "wrong");
    agent.want(cifs(a, "a"));
    const { waiting } = await agent.waitsFor(a, "CredentialsRefused", soonMs);
    expect(waiting?.message).to.match(/^\/\/127\.0\.0\.1\/a: the server lets nobody in as the Secret's user/);
    secret(a, "ua", "ua,pw");
    await agent.inState(a, "Mounted", soonMs);
  });
});

function journalOf(path: string): string {
  const file = `${path}/state/journal`;
  expect(statSync(file).size).to.be.above(0);
  return readFileSync(file, "latin1");
}
