import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { expect } from "chai";
import { intent } from "../../hack/lib/agent-on-kernel/intent.ts";
import { slow } from "../../hack/lib/lanes/slow.ts";
import { asVolumeName } from "../../src/agent/model/identities.ts";
import type { ChildRequest } from "../../src/host/linux/child/child-protocol.ts";
import { ChildRunner } from "../../src/host/linux/child/child-runner.ts";
import { attachedStandIn } from "../lib/fakes/attached-stand-in.ts";
import { startOf } from "../lib/kernel/disks/changing-disks.ts";
import { loopDevice } from "../lib/kernel/disks/loop-device.ts";
import { end, withProcesses } from "../lib/kernel/processes.ts";
import type { RealNode } from "../lib/kernel/real-node.ts";
import { withDisk } from "../lib/kernel/with-node.ts";

const name = asVolumeName("node.volume-1");
const megabytes = 48;
const bytes = megabytes * 1024 * 1024;
const written = "THE DATABASE OF SOMEBODY";

describe("a disk that somebody uses without a claim, on the real kernel", function () {
  this.timeout(120_000);
  let node: RealNode;
  let disk: string;
  const processes = withProcesses();

  withDisk(megabytes, ["mkfs.ext4", "ext4", "python3"], (path, made) => {
    node = made;
    disk = path;
  });

  /** A virtual machine, a database, or a pod with volumeDevices. */
  async function python(script: string): Promise<ChildProcess> {
    const lines = `import mmap, os, sys\n${script}\nprint("up", flush=True)\nsys.stdin.read()`;
    const process = spawn("python3", ["-c", lines], { stdio: ["pipe", "pipe", "inherit"] });
    processes.push(process);
    const [said] = await Promise.race([once(process.stdout, "data"), once(process, "exit")]);
    expect(`${said}`).to.match(/^up/);
    return process;
  }

  const openFor = (flags: string) => `fd = os.open("${disk}", os.${flags})`;
  const writesInTheMiddle = () =>
    `${openFor("O_RDWR")}; os.pwrite(fd, b"${written}", ${16 * 1024 * 1024}); os.fsync(fd)`;
  const byPath = { path: "" };
  const byFields = { disk: { transport: "loop", minSize: bytes, maxSize: bytes, empty: true } };
  const local = (source: object, spec: object = {}) =>
    intent({
      source: { local: { ...source, ...("path" in source && { path: disk }) } },
      fsType: "ext4",
      ...spec,
      mounts: [{ path: node.target("a") }],
    });
  const failure = async () => (await node.volume(name)).failure;
  const signature = () => execFileSync("sh", ["-c", `blkid -p -o value -s TYPE ${disk} || true`], { encoding: "utf8" });

  slow("is not formatted, and who writes to it is named", async () => {
    const process = await python(writesInTheMiddle());
    node.want(local(byPath));
    const busy = await failure();
    expect(busy?.reason).to.equal("DeviceBusy");
    expect(busy?.message).to.include(`python3 (${process.pid})`);
    expect(busy?.heldBy, "its end is waited for").to.deep.equal([process.pid]);
    expect(signature(), "nothing was written").to.equal("");
  });

  slow("is not taken as an empty disk, and who writes to it is named", async () => {
    const process = await python(writesInTheMiddle());
    node.want(local(byFields));
    const none = await failure();
    expect(none?.reason).to.equal("DiskNotFound");
    expect(none?.message).to.include(`python3 (${process.pid})`);
    expect(signature(), "nothing was written").to.equal("");
  });

  for (const [how, script] of [
    ["reads it", () => openFor("O_RDONLY")],
    ["has it mapped", () => `${openFor("O_RDWR")}; m = mmap.mmap(fd, 4096); os.close(fd)`],
  ] as const) {
    slow(`is busy for whoever ${how}, and free once that ends`, async () => {
      const process = await python(script());
      node.want(local(byPath));
      expect((await failure())?.reason).to.equal("DeviceBusy");
      await end(process);
      processes.splice(0);
      node.forgetFailures();
      expect((await failure())?.message).to.equal(undefined);
      expect(node.mountAt(node.target("a"))?.source).to.equal(disk);
    });
  }

  slow("is busy for a virtual machine that has its node for commands (/dev/sg0) open, and nothing else", async () => {
    const generic = { number: "1:7", path: "/dev/full" }; // stands for one, as here are no SCSI disks
    using _sysfs = attachedStandIn(`${node.path}/sys`, { path: disk, by: "target0:0:0", generic: generic.number });
    const process = await python(`fd = os.open("${generic.path}", os.O_RDWR)`);
    node.want(local(byPath));
    const busy = await failure();
    expect(busy?.reason, busy?.message).to.equal("DeviceBusy");
    expect(busy?.message).to.include(`python3 (${process.pid})`);
    expect(signature(), "nothing was written").to.equal("");
    await end(process);
    processes.splice(0);
    node.forgetFailures();
    expect((await failure())?.message).to.equal(undefined);
  });

  slow("is mounted, with the file system that it has, beside who only reads it", async () => {
    execFileSync("mkfs.ext4", ["-q", disk]);
    const process = await python(openFor("O_RDONLY"));
    node.want(local(byPath));
    expect((await failure())?.message).to.equal(undefined);
    expect(node.mountAt(node.target("a"))?.source).to.equal(disk);
    expect(process.exitCode, "it goes on reading").to.equal(null);
  });

  slow("with a file system is not destroyed while somebody reads it, although it is named", async () => {
    execFileSync("mkfs.ext4", ["-q", disk]);
    await python(openFor("O_RDONLY"));
    node.want(local(byPath, { fsType: "xfs" }));
    const named = /destroyAllDataOnDevices: (\S+)$/.exec((await failure())?.message ?? "")?.[1] ?? "";
    node.forgetFailures();
    node.want(local(byPath, { fsType: "xfs", destroyAllDataOnDevices: [named], generation: 2 }));
    expect((await failure())?.reason).to.equal("DeviceBusy");
    expect(signature().trim()).to.equal("ext4");
  });

  for (const [how, script] of [
    ["reads it by one descriptor and writes by another", () => `${openFor("O_RDONLY")}; ${openFor("O_RDWR")}`],
    [
      "maps it to read and, shared, to write",
      () => `${openFor("O_RDWR")}; m = mmap.mmap(fd, 4096, prot=mmap.PROT_READ); n = mmap.mmap(fd, 8192); os.close(fd)`,
    ],
  ] as const) {
    slow(`is not mounted beside who ${how}`, async () => {
      execFileSync("mkfs.ext4", ["-q", disk]);
      await python(script());
      node.want(local(byPath));
      expect((await failure())?.reason).to.equal("DeviceBusy");
      expect(node.mountAt(node.target("a"))).to.equal(undefined);
    });
  }

  slow("is not mounted either: two would write to one file system", async () => {
    execFileSync("mkfs.ext4", ["-q", disk]);
    await python(openFor("O_RDWR"));
    node.want(local(byPath));
    expect((await failure())?.reason).to.equal("DeviceBusy");
    expect(node.mountAt(node.target("a"))).to.equal(undefined);
  });

  slow("a loop device on it is named: no process has it open then", async () => {
    const loop = execFileSync("losetup", ["--find", "--show", disk], { encoding: "utf8" }).trim();
    try {
      node.want(local(byPath));
      const busy = await failure();
      expect(busy?.reason).to.equal("DeviceBusy");
      expect(busy?.message).to.include(loop.slice("/dev/".length));
      expect(signature()).to.equal("");
    } finally {
      execFileSync("losetup", ["--detach", loop]);
    }
  });

  for (const [what, made] of [
    ["empty", () => {}],
    ["with a file system", () => execFileSync("mkfs.ext4", ["-q", disk])],
  ] as const) {
    slow(`${what}, is not used by the name of a loop device on it`, async () => {
      made();
      const before = signature();
      const loop = execFileSync("losetup", ["--find", "--show", disk], { encoding: "utf8" }).trim();
      try {
        node.want(local(byPath, { source: { local: { path: loop } } }));
        const busy = await failure();
        expect(busy?.reason).to.equal("DeviceBusy");
        expect(busy?.message).to.match(/a second name of the device 7:\d+: name that device$/);
        expect([signature(), node.mounts()]).to.deep.equal([before, []]);
      } finally {
        execFileSync("losetup", ["--detach", loop]);
      }
    });
  }

  describe("of which it is a partition", () => {
    let whole: string;
    beforeEach(() => {
      whole = node.keep(loopDevice(`${node.path}/disks`, "whole", 64, "--partscan")).path;
      execFileSync("addpart", [whole, "1", "2048", `${(bytes / 512).toFixed()}`]);
      disk = `${whole}p1`;
    });
    const wholeFor = (flags: string) => `fd = os.open("${whole}", os.${flags})`;

    /** Empty, and with a file system. */
    async function refusesBoth(): Promise<readonly [string, string]> {
      node.want(local(byPath));
      const empty = await failure();
      expect([empty?.reason, signature()], empty?.message).to.deep.equal(["DeviceBusy", ""]);
      execFileSync("mkfs.ext4", ["-q", disk]);
      node.forgetFailures();
      const full = await failure();
      expect([full?.reason, node.mounts()], full?.message).to.deep.equal(["DeviceBusy", []]);
      return [empty?.message ?? "", full?.message ?? ""];
    }

    slow("is neither formatted nor mounted while somebody may write to the whole disk", async () => {
      const process = await python(wholeFor("O_RDWR"));
      for (const message of await refusesBoth())
        expect(message).to.include(`of which ${disk} is a partition`).and.to.include(`python3 (${process.pid})`);
      await end(process);
      processes.splice(0);
      node.forgetFailures();
      expect((await failure())?.message).to.equal(undefined);
    });

    slow("is neither formatted nor mounted while a loop device is made of the whole disk", async () => {
      const loop = execFileSync("losetup", ["--find", "--show", whole], { encoding: "utf8" }).trim();
      try {
        for (const message of await refusesBoth())
          expect(message).to.include(`is what ${loop.slice("/dev/".length)} is made of`);
      } finally {
        execFileSync("losetup", ["--detach", loop]);
      }
    });

    slow("is neither formatted nor mounted while a pod has the whole disk", async () => {
      const point = `${node.path}/volume-device`;
      writeFileSync(point, "");
      execFileSync("mount", ["--bind", whole, point]);
      node.want(local(byPath));
      const before = await failure();
      execFileSync("mkfs.ext4", ["-q", disk]);
      node.forgetFailures();
      const after = await failure();
      execFileSync("umount", [point]);
      for (const busy of [before, after])
        expect(busy?.message).to.include(`of which ${disk} is a partition, is given to a pod`).and.to.include(point);
      node.forgetFailures();
      expect((await failure())?.message).to.equal(undefined);
    });

    slow("is formatted while somebody reads the whole disk", async () => {
      await python(wholeFor("O_RDONLY"));
      node.want(local(byPath));
      expect((await failure())?.message).to.equal(undefined);
      expect(node.mountAt(node.target("a"))?.source).to.equal(disk);
    });
  });

  slow(
    "made of another (a stand-in for device-mapper), is neither formatted nor mounted while somebody may write to that",
    async () => {
      const member = node.keep(loopDevice(`${node.path}/disks`, "member", megabytes)).path;
      using _sysfs = attachedStandIn(`${node.path}/sys`, { path: disk, by: "virtual", over: [member] });
      const writer = await python(`fd = os.open("${member}", os.O_RDWR)`);
      const refused = async () => {
        node.forgetFailures();
        const busy = await failure();
        expect([busy?.reason, node.mounts()], busy?.message).to.deep.equal(["DeviceBusy", []]);
        expect(busy?.message).to.include(`of which ${disk} is made`).and.to.include(`python3 (${writer.pid})`);
        expect(busy?.heldBy, "its end is waited for").to.deep.equal([writer.pid]);
      };
      node.want(local(byPath));
      await refused();
      expect(signature(), "nothing was written").to.equal("");
      execFileSync("mkfs.ext4", ["-q", disk]);
      await refused();
      await end(writer);
      processes.splice(0);
      await python(`fd = os.open("${member}", os.O_RDONLY)`);
      node.forgetFailures();
      expect((await failure())?.message, "who only reads that is no user").to.equal(undefined);
    },
  );

  slow("is busy for a container that has it open by a name of its own, which is another disk's here", async () => {
    const numbers = execFileSync("stat", ["-c", "%Hr %Lr", disk], { encoding: "utf8" }).trim();
    const script = `mount -t tmpfs dev /dev && mknod /dev/loop0 b ${numbers} && exec 3<>/dev/loop0 && echo up && read _`;
    const container = spawn("unshare", ["--mount", "sh", "-c", script], { stdio: ["pipe", "pipe", "inherit"] });
    processes.push(container);
    expect(`${(await once(container.stdout, "data"))[0]}`).to.match(/^up/);
    node.want(local(byPath));
    const busy = await failure();
    expect([busy?.reason, signature()], busy?.message).to.deep.equal(["DeviceBusy", ""]);
    expect(busy?.message).to.include(`(${container.pid})`);
  });

  for (const [what, made] of [
    ["and empty", () => {}],
    ["with a file system", () => execFileSync("mkfs.ext4", ["-q", disk])],
  ] as const) {
    slow(`${what}, whose node was given to a pod, is neither formatted nor mounted`, async () => {
      made();
      const point = `${node.path}/volume-device`;
      writeFileSync(point, "");
      execFileSync("mount", ["--bind", disk, point]);
      const before = signature();
      node.want(local(byPath));
      const busy = await failure();
      expect([busy?.reason, signature()]).to.deep.equal(["DeviceBusy", before]);
      expect(busy?.message).to.include(point);
      execFileSync("umount", [point]);
      node.forgetFailures();
      expect((await failure())?.message).to.equal(undefined);
    });
  }

  slow("where it is mounted is said", async () => {
    execFileSync("mkfs.ext4", ["-q", disk]);
    mkdirSync(`${node.path}/elsewhere`);
    execFileSync("mount", [disk, `${node.path}/elsewhere`]);
    node.want(local(byPath));
    expect((await failure())?.message).to.match(/open elsewhere: mounted on .*\/elsewhere$/);
    execFileSync("umount", [`${node.path}/elsewhere`]);
  });

  describe("that is opened between the look and the write", () => {
    const run = ChildRunner.prototype.run;
    afterEach(() => {
      ChildRunner.prototype.run = run;
    });

    function rightBefore(kind: ChildRequest["kind"], act: () => Promise<unknown>): void {
      let done = false;
      ChildRunner.prototype.run = async function (this: ChildRunner, request, ...rest) {
        if (request.kind === kind && !done) {
          done = true;
          await act();
        }
        return run.call(this, request, ...rest);
      };
    }

    slow("right before mkfs: refused on the descriptor that is proved, and nothing is left on record", async () => {
      rightBefore("format", () => python(writesInTheMiddle()));
      node.want(local(byPath));
      expect((await failure())?.reason).to.equal("DeviceBusy");
      expect(signature()).to.equal("");
      expect((await node.journal()).records.get(name)?.formatting).to.equal(undefined);
    });

    slow("right before it is mounted: nothing is written to what somebody else writes to", async () => {
      execFileSync("mkfs.ext4", ["-q", disk]);
      rightBefore("mounter", () => python(openFor("O_RDWR")));
      node.want(local(byPath));
      const busy = await failure();
      expect(busy?.reason).to.equal("DeviceBusy");
      expect(busy?.message).to.include("python3");
      expect(busy?.heldBy, "its end is waited for").to.deep.equal([processes[0]?.pid]);
      expect(node.mounts()).to.deep.equal([]);
    });

    slow("right before it is emptied, although destroyAllDataOnDevices names it", async () => {
      execFileSync("dd", [`of=${disk}`, "bs=1", "conv=notrunc", "status=none"], { input: written });
      execFileSync("blockdev", ["--flushbufs", disk]);
      node.want(local(byPath));
      const named = /destroyAllDataOnDevices: (\S+)$/.exec((await failure())?.message ?? "")?.[1] ?? "";
      node.forgetFailures();
      rightBefore("wipe", () => python(openFor("O_RDWR")));
      node.want(local(byPath, { destroyAllDataOnDevices: [named], generation: 2 }));
      expect((await failure())?.reason).to.equal("DeviceBusy");
      expect(startOf(disk, written.length)).to.equal(written);
    });
  });
});
