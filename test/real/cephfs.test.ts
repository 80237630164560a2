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
import type { CephFSVolumeSource } from "../../src/api/types.gen.ts";
import { LinuxServers } from "../../src/host/linux/mount/linux-servers.ts";
import { realSystem } from "../../src/system.ts";
import { appendsTo, mountedBy, settle, watchClients } from "../lib/kernel/fuse-clients.ts";
import { RealNode } from "../lib/kernel/real-node.ts";
import { CephCluster, cephUser, monitorAddress, nobodysMonitor } from "../lib/servers/ceph.ts";

describe("cephfs by ceph-fuse, with a real cluster", function () {
  this.timeout(60_000); // of a cluster on a busy machine
  let cluster: CephCluster;
  let node: RealNode;
  let watch: ClientWatch;
  const heard = new EventEmitter();

  before(async function () {
    this.timeout(180_000);
    cluster = await CephCluster.start(this);
    for (const name of ["/one", "/two"]) cluster.directory(name);
  });
  after(async () => {
    await cluster?.[Symbol.asyncDispose]();
  });
  beforeEach(() => {
    node = new RealNode();
    node.contents.set("ceph", cluster.secret());
    watch = watchClients(node, heard);
  });
  afterEach(async () => {
    watch.stop();
    await node[Symbol.asyncDispose]();
  });

  const volume = (name: string, changes: Partial<CephFSVolumeSource> = {}) => {
    const secretRef = { namespace: "default", name: "ceph" };
    const cephfs = { monitors: [monitorAddress], path: `/${name}`, user: cephUser, secretRef, ...changes };
    return intent({ name: `node.${name}`, source: { cephfs }, mounts: [{ path: node.target(name) }] });
  };

  const settled = (name: string) => settle(node, watch, name);
  const mounted = (name: string) => mountedBy(node, watch, name);

  it("is mounted with a key that nobody sees: not in arguments, environment, log or journal", async () => {
    node.want(volume("one", { readOnly: true }));
    const { pid } = await mounted("one");
    const key = cluster.key();
    const seen = ["cmdline", "environ"].map((name) => readFileSync(`/proc/${pid}/${name}`, "utf8"));
    expect(seen[0]).to.contain("ceph-fuse");
    const files = readdirSync(node.stateDir, { recursive: true, encoding: "utf8" }).map(
      (name) => `${node.stateDir}/${name}`,
    );
    const kept = files.filter((path) => !path.includes("/staging/") && statSync(path).isFile());
    expect(kept.map((path) => path.split("/").at(-1))).to.include.members(["journal", "client.log"]);
    for (const text of [...seen, ...kept.map((path) => readFileSync(path, "utf8")), JSON.stringify(node.mounts())]) {
      expect(text).not.to.contain(key);
    }
    expect(appendsTo(pid, "client.log"), "its log may be emptied").to.equal(true);
    expect(() => writeFileSync(`${node.target("one")}/x`, "")).to.throw(/EROFS/);
    const [staged] = node.mounts();
    expect(staged).to.include({ fsType: "fuse.ceph-fuse", source: `${monitorAddress}:/one` });
    expect(staged?.options).to.include.members(["ro", "nosuid", "nodev"]);
  });

  slow(
    "a client that is killed is heard of at once; its volume is mounted anew, the other is not touched",
    async () => {
      node.want(volume("one"), volume("two"));
      const { pid } = await mounted("one");
      const other = await mounted("two");
      writeFileSync(`${node.target("one")}/kept`, "it");
      const ended = once(heard, "end");
      process.kill(pid, "SIGKILL");
      await ended;
      const seen = (await node.plan()).volumes.get(asVolumeName("node.one"));
      expect(seen && summaryOf(seen).drift).to.include({ class: "Stale" });
      expect((await mounted("one")).pid).not.to.equal(pid);
      expect((await mounted("two")).pid).to.equal(other.pid);
      writeFileSync(`${node.target("one")}/after`, "it");
    },
  );

  slow("a cluster that dies under load: the volume says so, others go on, and it goes on by itself", async () => {
    const local = intent({ name: "node.local", source: { emptyDir: {} }, mounts: [{ path: node.target("local") }] });
    node.want(volume("one"), local);
    const { pid } = await mounted("one");
    const servers = new LinuxServers(realSystem(silent).timers);
    const point = node.mounts().find(({ source }) => source.endsWith(":/one"))?.point ?? "";
    const ask = () => servers.ask({ fsType: "fuse.ceph-fuse", source: "one", point }, 3_000);
    expect(await ask()).to.deep.equal({ answers: true });
    const script = `i=0; while :; do i=$((i+1)); echo x >${node.target("one")}/load-$i; echo x >>${node.target("local")}/load; done`;
    const load = spawn("sh", ["-c", script], { stdio: "ignore" });
    const lines = () => readFileSync(`${node.target("local")}/load`).length;
    try {
      await until("a load", 10_000, () => existsSync(`${node.target("local")}/load`) && lines() > 10);
      await cluster.kill();
      await until("no answer", 20_000, async () => !(await ask()).answers);
      writeFileSync(`${node.target("local")}/goes-on`, "it");
      const before = lines();
      await cluster.begin();
      await until("an answer", 40_000, async () => (await ask()).answers);
      await until("the load to go on", 40_000, () => lines() > before + 2);
    } finally {
      load.kill("SIGKILL");
    }
    expect((await mounted("one")).pid, "nothing was mounted anew").to.equal(pid);
  });

  it("says what is wrong, and leaves nothing of it: a key, rights, a directory, a monitor", async () => {
    const other = { key: cluster.key("nothing") };
    for (const [changes, key, reason, words] of [
      [{}, other.key, "CredentialsRefused", /client\.volumes with the key of Secret default\/ceph/],
      [{ user: "nobody" }, undefined, "CredentialsRefused", /client\.nobody with/],
      // The message ends with the log of the mount, or with how it ended.
      [
        { user: "nothing" },
        other.key,
        "CredentialsRefused",
        /client\.nothing with .*(not permitted|doesn't have caps)/,
      ],
      [{ path: "/not/there" }, undefined, "ShareNotFound", /10.7.7.6:6789:\/not\/there: .*No such file/],
    ] as const) {
      if (key !== undefined) node.contents.set("ceph", { version: "2", data: new Map([["key", Buffer.from(key)]]) });
      node.want(volume("one", changes));
      const { failure } = await settled("one");
      expect(failure).to.include({ reason });
      expect(failure?.message).to.match(words);
      expect(failure?.message).not.to.contain(other.key);
      expect(node.mounts()).to.deep.equal([]);
      await node[Symbol.asyncDispose]();
      node = new RealNode();
      node.contents.set("ceph", cluster.secret());
    }
  });

  slow(
    "is mounted when the key that was refused is corrected; a start that is not answered ends at the deadline",
    async () => {
      node.deadlineMs = 2_000;
      node.want(volume("one", { monitors: [nobodysMonitor] }));
      expect((await settled("one")).failure).to.include({ reason: "TimedOut", errorClass: "uncertain" });
      expect(execFileSync("ps", ["-eo", "args"], { encoding: "utf8" })).not.to.contain(`${node.stateDir}/data`);
      node.deadlineMs = undefined;
      node.contents.set("ceph", { ...cluster.secret("nothing"), version: "1" });
      node.want(volume("one"));
      node.forgetFailures();
      expect((await settled("one")).failure).to.include({ reason: "CredentialsRefused" });
      node.contents.set("ceph", cluster.secret());
      node.forgetFailures();
      await mounted("one");
    },
  );
});
