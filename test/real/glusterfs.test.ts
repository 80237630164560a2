import { execFileSync, spawn } from "node:child_process";
import { EventEmitter, once } from "node:events";
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { expect } from "chai";
import { intent } from "../../hack/lib/agent-on-kernel/intent.ts";
import { slow } from "../../hack/lib/lanes/slow.ts";
import { silent } from "../../hack/lib/silent-log.ts";
import { until } from "../../hack/lib/until.ts";
import type { ClientWatch } from "../../src/agent/health/fuse-client-watch.ts";
import { asVolumeName } from "../../src/agent/model/identities.ts";
import { summaryOf } from "../../src/agent/status/volume-summary.ts";
import type { GlusterfsVolumeSource } from "../../src/api/types.gen.ts";
import { LinuxServers } from "../../src/host/linux/mount/linux-servers.ts";
import { realSystem } from "../../src/system.ts";
import { appendsTo, mountedBy, settle, watchClients } from "../lib/kernel/fuse-clients.ts";
import { RealNode } from "../lib/kernel/real-node.ts";
import { GlusterServer, glusterAddress, nobodysAddress } from "../lib/servers/gluster.ts";

describe("glusterfs, with a real server and Debian's client", () => {
  let server: GlusterServer;
  let node: RealNode;
  let watch: ClientWatch;
  const heard = new EventEmitter();

  before(async function () {
    this.timeout(180_000);
    server = await GlusterServer.start(this);
    for (const name of ["one", "two"]) server.volume(name);
  });
  after(async () => {
    await server?.[Symbol.asyncDispose]();
  });
  beforeEach(() => {
    node = new RealNode();
    watch = watchClients(node, heard);
  });
  afterEach(async () => {
    watch.stop();
    await node[Symbol.asyncDispose]();
  });

  const volume = (path: string, changes: Partial<GlusterfsVolumeSource> = {}, options: { deleting?: boolean } = {}) => {
    const glusterfs = { servers: [glusterAddress], path, ...changes };
    const name = path.split("/", 1)[0] ?? "";
    return intent({ name: `node.${name}`, source: { glusterfs }, mounts: [{ path: node.target(name) }], ...options });
  };

  const settled = (name: string) => settle(node, watch, name);
  const mounted = (name: string) => mountedBy(node, watch, name);

  slow(
    "a client that is killed is heard of at once; its volume is mounted anew, the other is not touched",
    async () => {
      node.want(volume("one"), volume("two"));
      const { pid } = await mounted("one");
      const other = await mounted("two");
      const before = node.mounts().filter(({ source }) => source.endsWith("/two"));
      const log = `${server.brick("one")}/log`;
      const load = spawn("sh", ["-c", `while :; do echo x >>${node.target("one")}/log; done`], { stdio: "ignore" });
      await until("a load", 10_000, () => existsSync(log) && statSync(log).size > 0);
      const ended = once(heard, "end");
      process.kill(pid, "SIGKILL");
      await ended;
      load.kill("SIGKILL");

      const seen = (await node.plan()).volumes.get(asVolumeName("node.one"));
      expect(seen && summaryOf(seen).drift).to.include({ class: "Stale" });
      expect(seen && summaryOf(seen)).to.include({ ready: "False" });
      const { pid: next } = await mounted("one");
      expect(next).not.to.equal(pid);
      expect(readFileSync(`${node.target("one")}/log`, "utf8")).to.match(/^(x\n)+/);
      expect((await mounted("two")).pid).to.equal(other.pid);
      expect(node.mounts().filter(({ source }) => source.endsWith("/two"))).to.deep.equal(before);
    },
  );

  slow("goes on when the agent ends, and is found again; one that has ended meanwhile is replaced", async () => {
    node.want(volume("one"));
    const { pid } = await mounted("one");
    expect(readFileSync(`/proc/${pid}/stat`, "utf8").split(" ")[5], "its session").to.equal(`${pid}`);
    expect(appendsTo(pid, "client.log"), "its log may be emptied under it").to.equal(true);
    const before = node.mounts();
    await node.restart();
    expect((await mounted("one")).pid).to.equal(pid);
    expect(node.mounts()).to.deep.equal(before);

    await node.restart();
    process.kill(pid, "SIGKILL");
    watch.stop();
    watch = watchClients(node, heard);
    const ended = once(heard, "end");
    await settled("one");
    await ended;
    expect((await mounted("one")).pid).not.to.equal(pid);
    writeFileSync(`${node.target("one")}/after`, "it");
  });

  slow(
    "is mounted anew, not brought back from a target, when its client has ended and somebody has unmounted the stage",
    async () => {
      node.want(volume("one"));
      const { pid } = await mounted("one");
      const stage = node.mounts().find(({ point }) => point.includes("/staging/"))?.point ?? "";
      const ended = once(heard, "end");
      process.kill(pid, "SIGKILL");
      await ended;
      execFileSync("umount", [stage]);
      const before = node.done.length;
      expect((await mounted("one")).pid).not.to.equal(pid);
      expect(node.done.slice(before)).to.deep.equal(["stage", "publish"]);
      expect(readdirSync(node.target("one"))).to.deep.equal(
        readdirSync(server.brick("one")).filter((n) => n !== ".glusterfs"),
      );
    },
  );

  slow("a server that is killed under load: the volume says so, others go on, and it goes on by itself", async () => {
    const local = intent({ name: "node.local", source: { emptyDir: {} }, mounts: [{ path: node.target("local") }] });
    node.want(volume("one"), local);
    const { pid } = await mounted("one");
    const servers = new LinuxServers(realSystem(silent).timers);
    const point = node.mounts().find(({ source }) => source.endsWith(":/one"))?.point ?? "";
    const ask = () => servers.ask({ fsType: "fuse.glusterfs", source: "one", point }, 5_000);
    expect(await ask()).to.deep.equal({ answers: true });
    const script = `while :; do echo x >>${node.target("one")}/load; echo x >>${node.target("local")}/load; done`;
    const load = spawn("sh", ["-c", script], { stdio: "ignore" });
    await until("a load", 10_000, () => existsSync(`${server.brick("one")}/load`));
    await server.kill();
    await until("no answer", 10_000, async () => !(await ask()).answers);
    const lines = () => readFileSync(`${node.target("local")}/load`).length;
    const [now, remote] = [lines(), readFileSync(`${server.brick("one")}/load`).length];
    await until("the other volume to go on", 10_000, () => lines() > now + 10);

    await server.begin();
    await until("an answer", 20_000, async () => (await ask()).answers);
    await until("the load to go on", 10_000, () => readFileSync(`${server.brick("one")}/load`).length > remote);
    load.kill("SIGKILL");
    expect((await mounted("one")).pid, "nothing was mounted anew").to.equal(pid);
  });

  slow("a volume whose brick is down is not taken for mounted; it is when the brick is back", async () => {
    await server.killBrick("two");
    node.want(volume("two"));
    const { failure } = await settled("two");
    expect(failure).to.include({ reason: "ServerUnreachable" });
    expect(failure?.message).to.match(/two: .*brick process|two: .*not connected/);
    expect(node.mountAt(node.target("two"))).to.equal(undefined);
    server.startBrick("two");
    await until("the volume", 20_000, async () => {
      node.forgetFailures();
      return (await settled("two")).failure === undefined;
    });
    writeFileSync(`${node.target("two")}/back`, "");
    expect(node.done.filter((done) => done === "stage").length).to.equal(1);
  });

  it("is released when its client has written everything and ended", async () => {
    node.want(volume("one"));
    const { pid } = await mounted("one");
    execFileSync("dd", ["if=/dev/zero", `of=${node.target("one")}/big`, "bs=1M", "count=16"], { stdio: "ignore" });
    node.want(volume("one", {}, { deleting: true }));
    expect((await settled("one")).phase).to.equal("released");
    expect(existsSync(`/proc/${pid}/exe`), `process ${pid} is there still`).to.equal(false);
    expect(readFileSync(`${server.brick("one")}/big`).length).to.equal(16 << 20);
    expect(node.mounts()).to.deep.equal([]);
    expect(readdirSync(`${node.stateDir}/data`)).to.deep.equal([]);
  });

  slow("is in use while its client has not ended, with the process named", async () => {
    node.want(volume("one"));
    const { pid } = await mounted("one");
    process.kill(pid, "SIGSTOP");
    node.want(volume("one", {}, { deleting: true }));
    const { phase, failure, actualState } = await settled("one");
    expect([phase, actualState.inUse]).to.deep.equal(["tearDown", true]);
    expect(failure).to.include({ reason: "StillReferenced" });
    expect(failure?.heldBy).to.deep.equal([pid]);
    process.kill(pid, "SIGCONT");
    node.forgetFailures();
    expect((await settled("one")).phase).to.equal("released");
  });

  slow(
    "asks the next server when one does not answer; shows a directory of the volume, read-only if asked",
    async () => {
      node.want(volume("two"));
      await mounted("two");
      execFileSync("mkdir", ["-p", `${node.target("two")}/a/b`]);
      writeFileSync(`${node.target("two")}/a/b/here`, "");
      node.want(volume("two", {}, { deleting: true }));
      expect((await settled("two")).phase).to.equal("released");
      node.want(volume("two/a/b", { servers: [nobodysAddress, glusterAddress], readOnly: true }));
      await mounted("two");
      expect(readdirSync(node.target("two"))).to.deep.equal(["here"]);
      const [staged] = node.mounts();
      expect(staged).to.include({ fsType: "fuse.glusterfs", source: `${nobodysAddress}:/two/a/b` });
      expect(staged?.options).to.include.members(["ro", "nosuid", "nodev"]);
      expect(() => writeFileSync(`${node.target("two")}/x`, "")).to.throw(/EROFS/);
    },
  );

  it("takes every option that the API allows", async () => {
    const mountOptions = [
      ...["acl", "resolve-gids", "attribute-timeout=0.5", "entry-timeout=1", "negative-timeout=0", "gid-timeout=300"],
      ...["direct-io-mode=disable", "use-readdirp=yes", "fopen-keep-cache=no", "kernel-writeback-cache=no"],
      ...["background-qlen=64", "congestion-threshold=48", "lru-limit=65536", "invalidate-limit=0"],
      "reader-thread-count=2",
    ];
    const source = { glusterfs: { servers: [glusterAddress], path: "one" } };
    node.want(intent({ name: "node.one", source, mountOptions, mounts: [{ path: node.target("one") }] }));
    await mounted("one");
  });

  it("says what is wrong: no such volume, no such directory in it, no server; and leaves nothing of it", async () => {
    for (const [source, words] of [
      [{ path: "three" }, /three: .*volume file/],
      [{ path: "one/not/there" }, /one\/not\/there: .*"\/not\/there" is not found/],
      [{ path: "one", servers: [nobodysAddress] }, /one: /],
    ] as const) {
      node.want(volume(source.path, source as Partial<GlusterfsVolumeSource>));
      const { failure } = await settled(source.path.split("/", 1)[0] ?? "");
      expect(failure).to.include({ reason: "ServerUnreachable" });
      expect(failure?.message).to.match(words);
      expect(node.mounts()).to.deep.equal([]);
      await node[Symbol.asyncDispose]();
      node = new RealNode();
    }
  });

  slow(
    "a start that its server does not answer is ended at the deadline, with the daemon that it has become",
    async () => {
      node.deadlineMs = 1_500;
      node.want(volume("one"));
      server.signal("SIGSTOP");
      try {
        const { failure } = await settled("one");
        expect(failure).to.include({ reason: "TimedOut", errorClass: "uncertain" });
      } finally {
        server.signal("SIGCONT");
      }
      expect(execFileSync("ps", ["-eo", "args"], { encoding: "utf8" })).not.to.contain(`${node.stateDir}/data`);
      node.deadlineMs = undefined;
      node.forgetFailures();
      await mounted("one");
    },
  );
});
