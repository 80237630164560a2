import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, statfsSync, writeFileSync } from "node:fs";
import { expect } from "chai";
import { type IntentInput, intent } from "../../../hack/lib/agent-on-kernel/intent.ts";
import { until } from "../../../hack/lib/until.ts";
import { asVolumeName } from "../../../src/agent/model/identities.ts";
import type { FCVolumeSource, ISCSIVolumeSource } from "../../../src/api/types.gen.ts";
import { isAt, type MultipathMap, type ScsiDisk } from "../../../src/host/ports/scsi.ts";
import { full } from "../../lib/asserts/requirements.ts";
import { soonMs } from "../../lib/kernel/agents/vm-world.ts";
import { RealNode } from "../../lib/kernel/real-node.ts";

const MiB = 1024 * 1024;
const name = asVolumeName("node.volume-1");
/** What both of tgt's portals show as LUN 1 (test/vm/iscsi.sh). */
const backing = "/run/iscsi/open-1";
/** A portal of each tgtd. */
const iscsi: ISCSIVolumeSource = {
  targetPortal: "127.0.0.1",
  portals: ["127.0.0.1:3261"],
  iqn: "iqn.2024-01.example:open",
  lun: 1,
  fsType: "ext4",
};

/** One volume from its set-up to its release: each test goes on where the one before has ended. */
describe("a LUN of two paths under multipathd", function () {
  this.timeout(soonMs);
  let node: RealNode;

  before(() => {
    sh("multipath_start");
    node = new RealNode();
  });
  after(async () => {
    await using all = new AsyncDisposableStack(); // whatever fails, from the last to the first
    all.defer(() => sh("multipath_stop"));
    all.use(node);
    for (const session of await effects().iscsi.sessions()) all.defer(() => effects().iscsi.logout(session));
  });

  const effects = () => node.host.effects({ deadlineMs: 60_000, formatDeadlineMs: 60_000, onChild: async () => {} });
  /** Those to LUN 1, of iSCSI or Fibre Channel. */
  async function paths(kind: "iscsi" | "fc" = "iscsi"): Promise<ScsiDisk[]> {
    const { disks, ports } = await effects().scsi.look("/");
    const of = ports.filter((port) => port.kind === kind);
    return disks.filter(({ address }) => of.some((port) => isAt(port, address)) && address.lun === 1);
  }
  async function map(kind: "iscsi" | "fc" = "iscsi"): Promise<MultipathMap> {
    const [found] = (await paths(kind)).flatMap((disk) => disk.map ?? []);
    if (found === undefined) throw new Error("there is no map");
    return found;
  }
  const target = () => node.target("a");
  /** Tries it once. @returns why it is not as it is wanted */
  async function want(more: Partial<IntentInput> = {}): Promise<string | undefined> {
    node.want(intent({ name, source: { iscsi }, mounts: [{ path: target() }], ...more }));
    node.forgetFailures();
    return (await node.volume(asVolumeName(more.name ?? name))).failure?.message;
  }
  /** Until something is written to the disk itself. */
  const put = (text: string) => {
    writeFileSync(`${target()}/${text}`, text);
    execFileSync("sync", ["-d", `${target()}/${text}`], { timeout: 60_000 });
  };
  /** What device-mapper says of each path: A or F. */
  async function works(kind: "iscsi" | "fc" = "iscsi"): Promise<string> {
    const said = execFileSync("dmsetup", ["status", (await map(kind)).name], { encoding: "utf8" });
    return [...said.matchAll(/ \d+:\d+ ([AF])/g)].map(([, state]) => state).join("");
  }
  /** Number of the tgtd behind the path that was written to most. */
  async function used(): Promise<number> {
    const written = ({ name: disk }: ScsiDisk) =>
      Number(readFileSync(`/sys/block/${disk}/stat`, "utf8").trim().split(/\s+/)[6]);
    const [most] = (await paths()).sort((a, b) => written(b) - written(a));
    const session = (await effects().iscsi.sessions()).find(({ host }) => host === most?.address.host);
    return session?.portal.port === 3261 ? 1 : 0;
  }

  it("waits for the map, and is mounted by it", async () => {
    const udev = Number(execFileSync("pidof", ["systemd-udevd"], { encoding: "utf8" }));
    process.kill(udev, "SIGSTOP");
    try {
      expect(await want()).to.match(/^multipathd runs on the node, and udev has not reported sd., sd. to it yet/);
      expect(node.mountAt(target())).to.equal(undefined);
    } finally {
      process.kill(udev, "SIGCONT");
    }
    execFileSync("udevadm", ["settle"]);
    expect(await want()).to.equal(undefined);
    const { device, paths: of } = await map();
    expect(node.mountAt(target())?.source).to.equal(`/dev/${device}`);
    expect([...of].sort()).to.deep.equal((await paths()).map((disk) => disk.name).sort());
    expect((await paths()).length).to.equal(2);
  });

  const inFull = full() ? it : () => {};
  inFull("goes on while the portal that is used is dead, and has it back", async () => {
    execFileSync("truncate", ["-s", "48M", backing]); // each tgtd shows it when it starts anew
    put("before");
    const first = await used();
    for (const [at, tgtd] of (full() ? [first, 1 - first] : [first]).entries()) {
      sh(`iscsi_kill ${tgtd}`);
      try {
        put(`without-${at}`);
        expect(await works()).to.match(/^(AF|FA)$/);
        expect(node.host.servers?.disk((await map()).deviceNumber)).to.deep.equal({ answers: true });
      } finally {
        sh(tgtd === 0 ? "iscsi_target" : "iscsi_tgtd 1 127.0.0.1:3261");
      }
      await until("both paths work", 60_000, async () => (await works()) === "AA");
    }
    for (const text of ["before", "without-0"]) expect(readFileSync(`${target()}/${text}`, "utf8")).to.equal(text);
    expect(await want()).to.equal(undefined);
  });

  inFull("grows while it is mounted: its paths, the map, and the file system", async () => {
    const before = node.mountAt(target())?.id;
    expect((await map()).sizeBytes).to.equal(32 * MiB);
    expect(await want({ capacityBytes: `${48 * MiB}`, generation: 2 })).to.equal(undefined);
    expect((await map()).sizeBytes).to.equal(48 * MiB);
    const { blocks, bsize } = statfsSync(target());
    expect(blocks * bsize).to.be.above(36 * MiB);
    expect(node.mountAt(target())?.id).to.equal(before);
  });

  it("is released: the map, its paths and their sessions are gone", async () => {
    const gone = [(await map()).device, ...(await paths()).map((disk) => disk.name)];
    expect(await want({ deleting: true, generation: 3 })).to.equal(undefined);
    expect((await node.volume(name)).phase).to.equal("released");
    expect(gone.filter((device) => existsSync(`/sys/block/${device}`))).to.deep.equal([]);
    expect(await effects().iscsi.sessions()).to.deep.equal([]);
  });

  inFull("of Fibre Channel goes on while one port of the target is away, and has it back", async () => {
    sh("multipath_conf scsi:iscsi; multipathd reconfigure");
    const targetWWNs = (process.env["NODEVOLUME_FC_TARGETS"] ?? "").split(" ");
    const fc: FCVolumeSource = { targetWWNs, lun: 1, fsType: "ext4" };
    const of = { name: "node.volume-2", uid: "uid-2", source: { fc } };
    for (const disk of await paths("fc"))
      execFileSync("udevadm", ["trigger", "--settle", "--action=add", `/sys/block/${disk.name}`]);
    expect(await want(of)).to.equal(undefined);
    const { device } = await map("fc");
    expect(node.mountAt(target())?.source).to.equal(`/dev/${device}`);
    for (const port of ["fct1", "fct2"]) {
      execFileSync("ip", ["link", "set", port, "down"]);
      try {
        put(`without-${port}`);
        await until("its path has failed", 60_000, async () => /^(AF|FA)$/.test(await works("fc")));
      } finally {
        execFileSync("ip", ["link", "set", port, "up"]);
      }
      await until("both paths work", 60_000, async () => (await works("fc")) === "AA");
    }
    const gone = [device, ...(await paths("fc")).map((disk) => disk.name)];
    expect(await want({ ...of, deleting: true, generation: 2 })).to.equal(undefined);
    expect((await node.volume(asVolumeName(of.name))).phase).to.equal("released");
    expect(gone.filter((one) => existsSync(`/sys/block/${one}`))).to.deep.equal([]);
  });
});

function sh(script: string): void {
  execFileSync("sh", ["-c", `. test/vm/iscsi.sh; . test/vm/multipath.sh; ${script}`], { stdio: ["ignore", 2, 2] });
}
