import { execFileSync, spawnSync } from "node:child_process";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { expect } from "chai";
import type { NodeVolumeIntentStatus } from "../../../src/api/types.gen.ts";
import { soonMs, VMWorld } from "../../lib/vm-world.ts";

const conf = "/mnt/smb/smb.conf";
/** Milliseconds in which a server that stops, or is back, is noticed. */
const noticedMs = 120_000;
const [a, b] = ["node.a", "node.b"] as const;
const namespaceOf = (name: string) => name.replace(".", "-");

/** Only in the VM are all of them ours. */
const stop = () => spawnSync("pkill", ["-KILL", "-x", "smbd"]);
function start(): void {
  execFileSync("smbd", ["-D", "-s", conf]);
  while (spawnSync("bash", ["-c", "</dev/tcp/127.0.0.1/445"]).status !== 0) spawnSync("sleep", ["0.2"]); // it listens a while later
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
    stop();
    setPassword("ua", "ua,pw");
    start();
    await world[Symbol.asyncDispose]();
  });

  const cifs = (name: string, share: string) =>
    world.volume(name, {
      source: { cifs: { server: "127.0.0.1", share, secretRef: { namespace: namespaceOf(name), name: "files" } } },
      mountOptions: ["vers=3.1.1", "echo_interval=2", "actimeo=1"],
    });
  const secret = (name: string, username: string, password: string) =>
    world.agent.writeSecret({ namespace: namespaceOf(name), name: "files", values: { username, password } });
  /** The mounts of a volume, as the kernel numbers them and their file system. */
  const mountsOf = (name: string) =>
    world.agent
      .mounts()
      .filter(
        ({ point }) => point === world.agent.target(name) || point === world.agent.statuses.get(name)?.stagingPath,
      )
      .map(({ id, device }) => `${id} ${device}`);

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
    start();
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
    start();
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
