import { execFileSync } from "node:child_process";
import {
  closeSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  readSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { expect } from "chai";
import { intent } from "../../hack/lib/agent-on-kernel/intent.ts";
import { slow } from "../../hack/lib/lanes/slow.ts";
import { until } from "../../hack/lib/until.ts";
import { asVolumeName } from "../../src/agent/model/identities.ts";
import { loopDevice } from "../lib/kernel/disks/loop-device.ts";
import type { RealNode } from "../lib/kernel/real-node.ts";
import { withDisk } from "../lib/kernel/with-node.ts";

const name = asVolumeName("node.volume-1");

describe("local block devices, on the real kernel", () => {
  let node: RealNode;
  let disk: string;

  withDisk(32, ["mkfs.ext4", "ext4"], (path, made) => {
    node = made;
    disk = path;
  });

  const local = (spec: object = {}) =>
    intent({ source: { local: { path: disk } }, ...spec, mounts: [{ path: node.target("a") }] });

  it("one byte at its beginning or end is enough: it is not formatted (law L11)", async () => {
    for (const offset of [512, 32 * 1024 * 1024 - 512]) {
      execFileSync("dd", [`of=${disk}`, "bs=1", `seek=${offset}`, "count=1", "conv=notrunc", "status=none"], {
        input: "x",
      });
      node.want(local({ fsType: "ext4" }));
      expect((await node.volume(name)).failure?.reason, `byte at ${offset}`).to.equal("DeviceNotEmpty");
      execFileSync("dd", [`of=${disk}`, "bs=1", `seek=${offset}`, "count=1", "conv=notrunc", "status=none"], {
        input: "\0",
      });
      node.forgetFailures();
    }
    expect((await node.volume(name)).failure?.message).to.equal(undefined);
  });

  slow(
    "another disk that has its name after a reboot is not mounted in its place, until the volume is released",
    async () => {
      const uuid = () => execFileSync("blkid", ["-p", "-s", "UUID", "-o", "value", disk], { encoding: "utf8" }).trim();
      node.want(local({ fsType: "ext4" }));
      expect((await node.volume(name)).failure?.message).to.equal(undefined);
      const ours = uuid();
      const journal = await node.journal();
      const record = journal.records.get(name);
      if (record?.disk === undefined) throw new Error("nothing on record");
      expect(record.disk.uuid).to.equal(ours);
      node.unmountAll();
      const { stage: _unmounted, ...rest } = record;
      const rebooted = { ...rest, disk: { ...record.disk, identity: "disk 1 of another boot" }, targets: [] };
      await journal.put(rebooted);
      const files = [`${node.path}/disks/disk`, `${node.path}/disks/other`] as const;
      const exchange = (file: string) => {
        execFileSync("losetup", ["--detach", disk]);
        execFileSync("losetup", [disk, file]);
      };
      execFileSync("truncate", ["-s", "32M", files[1]]);
      execFileSync("mkfs.ext4", ["-q", files[1]]);
      const before = readFileSync(files[1]);
      exchange(files[1]);
      const other = await node.volume(name);
      expect(other.failure?.reason).to.equal("SourceDiffers");
      expect(other.failure?.message).to.include(uuid()).and.to.include(`was the disk with file system ${ours}`);
      expect(node.mounts()).to.deep.equal([]);
      expect(readFileSync(files[1]).equals(before), "not a byte of it is changed").to.equal(true);
      exchange(files[0]);
      node.forgetFailures();
      expect((await node.volume(name)).failure?.message, "it is back").to.equal(undefined);
      expect(node.mountAt(node.target("a"))?.source).to.equal(disk);
    },
  );

  describe("an mkfs that is killed leaves bytes without a signature", () => {
    /** Wants ext3 on a disk that is large enough to catch its mkfs at work, and kills that. */
    async function killMkfs(): Promise<void> {
      disk = node.keep(loopDevice(`${node.path}/disks`, "large", 16 * 1024)).path;
      node.want(local({ fsType: "ext3" }));
      const [operation] = (await node.plan()).operations;
      if (operation === undefined) throw new Error("nothing to do");
      const running = node.run(operation);
      let pid: number | undefined;
      await until("mkfs has written something", 20_000, () => {
        pid = mkfsOf(disk);
        return pid !== undefined && isWrittenTo(disk);
      });
      if (pid !== undefined) process.kill(pid, "SIGKILL");
      await running;
      expect(node.done).to.deep.equal(["stage SetUpFailed"]);
      expect(() => execFileSync("blkid", ["-p", disk]), "no signature").to.throw();
      expect(isWrittenTo(disk)).to.equal(true);
      node.forgetFailures();
    }

    slow("the device on record is formatted again, also after a restart of the agent", async () => {
      await killMkfs();
      await node.restart();
      expect((await node.volume(name)).failure).to.equal(undefined);
      expect(node.mountAt(node.target("a"))?.fsType).to.match(/^ext[34]$/);
      expect((await node.journal()).records.get(name)).not.to.have.property("formatting");
    }).timeout(120_000);

    it("a device that is not the one on record is not, nor is one with a signature by now (law L11)", async () => {
      await killMkfs();
      const journal = await node.journal();
      const record = journal.records.get(name);
      if (record?.formatting === undefined) throw new Error("nothing on record");
      await journal.put({ ...record, formatting: record.formatting.replace("bytes", "Bytes") });
      expect((await node.volume(name)).failure?.reason).to.equal("DeviceNotEmpty");
      await journal.put(record);
      execFileSync("mkswap", [disk]);
      node.forgetFailures();
      expect((await node.volume(name)).failure?.reason).to.equal("FilesystemMismatch");
    }).timeout(120_000);
  });

  it("a file system that is there is mounted, never made again; another fsType is refused", async () => {
    execFileSync("mkfs.ext4", ["-q", "-L", "precious", disk]);
    node.want(local({ fsType: "xfs" }));
    expect((await node.volume(name)).failure?.reason).to.equal("FilesystemMismatch");
    node.want(local({ generation: 2 }));
    await node.converge();
    expect(execFileSync("blkid", ["-p", "-s", "LABEL", "-o", "value", disk], { encoding: "utf8" }).trim()).to.equal(
      "precious",
    );
  });

  slow("a device that two volumes name, by its node and by a link, is of one of them", async () => {
    const link = `${node.path}/disks/link`;
    symlinkSync(disk, link);
    const [one, other] = [disk, link].map((path, at) => {
      const mounts = [{ path: node.target(`t${at}`), name: `set.t${at}` }];
      return intent({
        name: `node.volume-${at}`,
        uid: `uid-${at}`,
        source: { local: { path } },
        fsType: "ext4",
        mounts,
      });
    });
    if (one === undefined || other === undefined) throw new Error("there are two");
    node.want(one, other);
    const { volumes } = await node.converge();
    const reasons = [one, other].map(({ metadata }) => volumes.get(asVolumeName(metadata.name))?.failure?.reason);
    expect(reasons.filter((reason) => reason !== undefined)).to.deep.equal(["DeviceBusy"]);
    expect(node.mounts().filter(({ point }) => point.includes("/mnt/"))).to.have.length(1);
  });

  it("a device that is mounted elsewhere, or swap, is busy", async () => {
    execFileSync("mkfs.ext4", ["-q", disk]);
    mkdirSync(`${node.path}/elsewhere`);
    execFileSync("mount", [disk, `${node.path}/elsewhere`]);
    node.want(local());
    expect((await node.volume(name)).failure?.reason).to.equal("DeviceBusy");
    execFileSync("umount", [`${node.path}/elsewhere`]);
  });

  slow("options that can only be given at mount time take the volume down and up again", async () => {
    node.want(local({ fsType: "ext4" }));
    await node.converge();
    writeFileSync(`${node.target("a")}/token`, "data");
    node.want(local({ fsType: "ext4", generation: 2, mountOptions: ["data=writeback"] }));
    await node.converge();
    expect(node.done).to.include("reconfigure OptionsRefused");
    expect(node.mountAt(node.target("a"))?.superOptions).to.include("data=writeback");
    expect(readFileSync(`${node.target("a")}/token`, "utf8")).to.equal("data");
  });

  slow("options that the kernel changes in place are changed in place", async () => {
    node.want(local({ fsType: "ext4" }));
    await node.converge();
    const ids = node.mounts().map((mount) => mount.id);
    node.want(local({ fsType: "ext4", generation: 2, mountOptions: ["commit=30"] }));
    await node.converge();
    expect(node.mountAt(node.target("a"))?.superOptions).to.include("commit=30");
    expect(node.mounts().map((mount) => mount.id)).to.deep.equal(ids);
    node.want(local({ fsType: "ext4", generation: 3 }));
    await node.converge();
    expect(node.mountAt(node.target("a"))?.superOptions, "an option that is gone").not.to.include("commit=30");
  });

  it("volumeMode Block binds the device itself, and its release waits until nobody has it open", async () => {
    node.want(local({ volumeMode: "Block" }));
    await node.converge();
    const size = execFileSync("blockdev", ["--getsize64", node.target("a")], { encoding: "utf8" }).trim();
    expect(Number(size)).to.equal(32 * 1024 * 1024);
    execFileSync("mkfs.ext4", ["-q", disk]);
    mkdirSync(`${node.path}/elsewhere`);
    execFileSync("mount", [disk, `${node.path}/elsewhere`]);
    node.want(local({ volumeMode: "Block", deleting: true, generation: 2 }));
    expect((await node.volume(name)).failure?.reason).to.equal("DeviceBusy");
    execFileSync("umount", [`${node.path}/elsewhere`]);
    node.forgetFailures();
    expect((await node.volume(name)).phase).to.equal("released");
  });
});

function isWrittenTo(path: string): boolean {
  const first = Buffer.alloc(64 * 1024);
  const fd = openSync(path, "r");
  readSync(fd, first, 0, first.length, 0);
  closeSync(fd);
  return first.some((byte) => byte !== 0);
}

/** The mkfs that works on a device now. */
function mkfsOf(device: string): number | undefined {
  const pids = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  const found = pids.find((pid) => {
    try {
      const [program] = readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0");
      return program?.includes("mkfs") === true && readlinkSync(`/proc/${pid}/fd/0`) === device;
    } catch {
      return false; // it ended in between
    }
  });
  return found === undefined ? undefined : Number(found);
}
