import { spawn } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { expect } from "chai";
import { intent } from "../../../hack/lib/agent-on-kernel/intent.ts";
import { silent } from "../../../hack/lib/silent-log.ts";
import { until } from "../../../hack/lib/until.ts";
import { asVolumeName } from "../../../src/agent/model/identities.ts";
import type { VolumePlan } from "../../../src/agent/model/volume-plan.ts";
import type { CephFSVolumeSource } from "../../../src/api/types.gen.ts";
import { LinuxServers } from "../../../src/host/linux/mount/linux-servers.ts";
import { realSystem } from "../../../src/system.ts";
import {
  addressOfVM,
  cephFSOfVM,
  keyOfVM,
  monitorOfVM,
  secondFileSystem,
  secretOfVM,
  wrongKey,
} from "../../contract/ceph-kernel-cases.ts";
import type { RealNode } from "../../lib/kernel/real-node.ts";
import { tellCluster } from "../../lib/servers/ceph-control.ts";
import { eachOnCephNode } from "../../lib/servers/ceph-node.ts";

describe("cephfs by the kernel's client", () => {
  let node: RealNode;

  eachOnCephNode((of) => {
    node = of;
  });

  interface Changes extends Partial<CephFSVolumeSource> {
    readonly options?: string[];
    readonly deleting?: boolean;
  }
  const volume = (name: string, { options, deleting = false, ...changes }: Changes = {}) =>
    intent({
      name: `node.${name}`,
      source: { cephfs: cephFSOfVM({ path: "/one", ...changes }) },
      mounts: [{ path: node.target(name) }],
      deleting,
      ...(options && { mountOptions: options }),
    });

  async function settled(name: string): Promise<VolumePlan> {
    await node.converge();
    return node.volume(asVolumeName(`node.${name}`));
  }
  async function mounted(name: string): Promise<void> {
    expect((await settled(name)).failure?.message).to.equal(undefined);
  }
  /** What the kernel shows of the staged file systems. */
  const staged = () => node.mounts().filter(({ point }) => point.includes("/staging/"));

  it("is mounted with a key that nobody sees, by the newer protocol where the monitors' port is its", async () => {
    node.want(volume("one", { monitors: [monitorOfVM(3300)] }));
    await mounted("one");
    const [mount] = staged();
    expect(mount).to.include({ fsType: "ceph", source: `${monitorOfVM(3300)}:/one` });
    expect(mount?.superOptions).to.include.members([
      "ms_mode=prefer-crc",
      "name=volumes",
      "secret=<hidden>",
      "noshare",
    ]);
    for (const file of ["/proc/self/mountinfo", "/proc/self/mountstats", `${node.stateDir}/journal`]) {
      expect(readFileSync(file, "utf8")).not.to.contain(keyOfVM());
    }
    writeFileSync(`${node.target("one")}/x`, "it");
  });

  for (const [what, changes, reason, words] of [
    ["a key that is wrong", { key: wrongKey }, "CredentialsRefused", /client\.volumes with the Secret's key/],
    ["a user that is not there", { user: "nobody" }, "CredentialsRefused", /client\.nobody in/],
    ["a directory that is not there", { path: "/not/there" }, "ShareNotFound", /no such directory/],
    ["a file system that is not there", { fsName: "nope" }, "CredentialsRefused", /no file system nope/],
    ["monitors that do not answer", { monitors: [monitorOfVM(6999)] }, "ServerUnreachable", /no monitor, or no MDS/],
    ["an option that the kernel refuses", { options: ["wsize=1001"] }, "OptionsRefused", /wsize/],
  ] as const) {
    it(`says of ${what} that it is, and leaves nothing mounted`, async () => {
      const { key, ...rest } = changes as Changes & { key?: string };
      if (key !== undefined) node.contents.set("ceph", secretOfVM(key));
      node.want(volume("one", rest));
      const { failure } = await settled("one");
      expect(failure).to.include({ reason });
      expect(failure?.message).to.match(words);
      expect(failure?.message).not.to.contain(key ?? keyOfVM());
      expect(node.mounts()).to.deep.equal([]);
    });
  }

  it("an MDS that stops under load: the volume says so, another goes on, and nothing is mounted anew", async () => {
    const local = intent({ name: "node.local", source: { emptyDir: {} }, mounts: [{ path: node.target("local") }] });
    node.want(volume("one"), local);
    await mounted("one");
    const before = node.mounts();
    const servers = new LinuxServers(realSystem(silent).timers);
    const { point = "", source = "" } = staged().find(({ fsType }) => fsType === "ceph") ?? {};
    const ask = () => servers.ask({ fsType: "ceph", source, point }, 3_000);
    expect(await ask()).to.deep.equal({ answers: true });
    await tellCluster({ signal: "SIGSTOP", daemons: ["mds.a"] });
    const load = spawn("mkdir", [`${node.target("one")}/load`], { stdio: "ignore" });
    try {
      await until("no answer", 20_000, async () => !(await ask()).answers);
      mkdirSync(`${node.target("local")}/goes-on`);
    } finally {
      await tellCluster({ signal: "SIGCONT", daemons: ["mds.a"] });
    }
    await until("an answer", 40_000, async () => (await ask()).answers);
    await until("the load to end", 40_000, () => load.exitCode === 0);
    await mounted("one");
    expect(node.mounts()).to.deep.equal(before);
  });

  it("takes other options by mounting anew, and every one that the API allows", async () => {
    node.want(volume("one", { monitors: [addressOfVM] })); // whose port depends on how it is spoken to
    await mounted("one");
    const first = [
      ...["ms_mode=crc", "recover_session=no", "rsize=65536", "wsize=65536", "rasize=65536", "caps_max=1024", "nocrc"],
      ...["readdir_max_entries=512", "readdir_max_bytes=65536", "osd_request_timeout=0", "noacl", "nowsync", "ino32"],
    ];
    const second = ["ms_mode=secure", "noasyncreaddir", "nodcache", "dirstat", "rbytes", "noquotadf", "nocopyfrom"];
    const opposites = ["asyncreaddir", "dcache", "nodirstat", "norbytes", "quotadf", "copyfrom", "noino32"];
    for (const [options, shown] of [
      [first, ["ms_mode=crc", "caps_max=1024", "rsize=65536", "ino32"]],
      [second, ["ms_mode=secure", "nodcache", "dirstat"]],
      [
        ["ms_mode=legacy", "crc", "acl", "wsync", ...opposites],
        ["acl", "wsync", "copyfrom"],
      ],
    ] as const) {
      node.want(volume("one", { options: [...options], monitors: [addressOfVM] }));
      await mounted("one");
      expect(staged()[0]?.superOptions).to.include.members([...shown]);
    }
  });

  it("shows the file system of the cluster that is named", async () => {
    node.want(volume("one", { path: "/", fsName: secondFileSystem }), volume("two", { path: "/" }));
    await mounted("one");
    await mounted("two");
    expect(readdirSync(node.target("one"))).to.deep.equal([]);
    expect(readdirSync(node.target("two"))).to.include("one");
  });

  it("of volumes of one directory each has a file system of its own, read-only if asked", async () => {
    const others = [volume("two"), volume("three", { readOnly: true })];
    node.want(volume("one"), ...others);
    for (const name of ["one", "two", "three"]) await mounted(name);
    expect(new Set(staged().map(({ device }) => device)).size).to.equal(3);
    expect(() => writeFileSync(`${node.target("three")}/y`, "")).to.throw(/EROFS/);
    node.want(volume("one", { deleting: true }), ...others);
    expect((await settled("one")).phase).to.equal("released");
  });
});
