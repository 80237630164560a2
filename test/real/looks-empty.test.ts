import { execFileSync } from "node:child_process";
import { closeSync, fsyncSync, openSync, readSync, writeSync } from "node:fs";
import { expect } from "chai";
import { intent } from "../../hack/lib/agent-on-kernel/intent.ts";
import { slow } from "../../hack/lib/lanes/slow.ts";
import { asVolumeName } from "../../src/agent/model/identities.ts";
import { ChildRunner } from "../../src/host/linux/child/child-runner.ts";
import { need } from "../lib/asserts/requirements.ts";
import { loopDevice } from "../lib/kernel/disks/loop-device.ts";
import type { RealNode } from "../lib/kernel/real-node.ts";
import { withNode } from "../lib/kernel/with-node.ts";

const name = asVolumeName("node.volume-1");
const MiB = 1024 * 1024;
const data = "data of somebody";

describe("a disk with nothing at its ends, on the real kernel", function () {
  this.timeout(120_000);
  let node: RealNode;

  withNode(["loop-devices", "mkfs.ext4", "ext4"], (made) => {
    node = made;
  });

  const disk = (megabytes: number) => node.keep(loopDevice(`${node.path}/disks`, "disk", megabytes)).path;
  const write = (path: string, at: number, text = data) => {
    const fd = openSync(path, "r+");
    writeSync(fd, text, at);
    fsyncSync(fd);
    closeSync(fd);
  };
  const read = (path: string, at: number) => {
    const fd = openSync(path, "r");
    const found = Buffer.alloc(data.length);
    readSync(fd, found, 0, found.length, at);
    closeSync(fd);
    return found.toString();
  };
  const want = (path: string, spec: object = {}) =>
    node.want(intent({ source: { local: { path } }, fsType: "ext4", ...spec, mounts: [{ path: node.target("a") }] }));
  const failure = async () => (await node.volume(name)).failure;
  const named = (message = "") => /destroyAllDataOnDevices: (\S+)$/.exec(message)?.[1] ?? "";

  for (const [what, megabytes, at] of [
    ["at 8 MiB of a small one", 71, 8 * MiB],
    ["anywhere in a small one", 71, 41 * MiB + 12_345],
    ["where a btrfs has its copy", 300, 64 * MiB + 64],
    ["where the table was before it grew", 1024, 512 * MiB - 512],
  ] as const) {
    it(`data ${what} is seen: it is not formatted`, async () => {
      const path = disk(megabytes);
      write(path, at);
      want(path);
      expect((await failure())?.reason).to.equal("DeviceNotEmpty");
      expect(read(path, at)).to.equal(data);
    });
  }

  slow("an ext4 whose beginning was zeroed is seen by the copies of its superblock", async () => {
    const path = disk(300);
    execFileSync("mkfs.ext4", ["-q", "-b", "1024", path]);
    execFileSync("dd", ["if=/dev/zero", `of=${path}`, "bs=1M", "count=4", "conv=notrunc,fsync", "status=none"]);
    want(path);
    expect((await failure())?.reason).to.equal("DeviceNotEmpty");
    const magic = execFileSync("dd", [`if=${path}`, "bs=1", `skip=${8193 * 1024 + 56}`, "count=2", "status=none"]);
    expect(magic.toString("hex"), "the copy is as it was").to.equal("53ef");
  });

  it("what another node has written to it is seen, although somebody here has it open and has read it", async () => {
    const path = disk(71);
    const fd = openSync(path, "r"); // of this process, which is the agent's, and so does not keep it busy
    readSync(fd, Buffer.alloc(4096), 0, 4096, 8 * MiB);
    write(`${node.path}/disks/disk`, 8 * MiB); // as the array has it: what this kernel has read is not what is there
    try {
      want(path);
      expect((await failure())?.reason).to.equal("DeviceNotEmpty");
    } finally {
      closeSync(fd);
    }
  });

  slow("what changes in the middle after the message keeps it from being destroyed", async () => {
    const path = disk(71);
    write(path, 40 * MiB);
    want(path);
    const wanted = named((await failure())?.message);
    write(path, 20 * MiB, "written later");
    node.forgetFailures();
    want(path, { destroyAllDataOnDevices: [wanted], generation: 2 });
    const now = await failure();
    expect(now?.reason).to.equal("DeviceNotEmpty");
    expect(read(path, 40 * MiB)).to.equal(data);
    node.forgetFailures();
    want(path, { destroyAllDataOnDevices: [named(now?.message)], generation: 3 });
    expect((await failure())?.message).to.equal(undefined);
    expect(read(path, 40 * MiB)).to.not.equal(data);
  });

  it("why mkfs refuses a disk is said, and not how it is called", async function () {
    need(this, "mkfs.xfs");
    want(disk(8), { fsType: "xfs" });
    const ended = await failure();
    expect(ended?.reason).to.equal("FormatFailed");
    expect(ended?.message)
      .to.match(/ended with 1: .*(too small|larger than)/)
      .and.not.to.contain("[-b size=num]");
  });

  slow("an mkfs that ended by itself leaves no licence to format over what is written later", async () => {
    const path = disk(71);
    const { run } = ChildRunner.prototype;
    ChildRunner.prototype.run = async function (this: ChildRunner, request, ...rest) {
      if (request.kind !== "format") return run.call(this, request, ...rest);
      return { code: 1, stdout: "", stderr: "Filesystem must be larger than 300MB." }; // as mkfs.xfs ends
    };
    want(path);
    const ended = await failure().finally(() => {
      ChildRunner.prototype.run = run;
    });
    expect(ended?.reason).to.equal("FormatFailed");
    expect((await node.journal()).records.get(name)?.formatting).to.equal(undefined);
    write(path, 0);
    write(path, MiB);
    node.forgetFailures();
    want(path, { generation: 2 });
    expect((await failure())?.reason).to.equal("DeviceNotEmpty");
    expect([read(path, 0), read(path, MiB)]).to.deep.equal([data, data]);
  });
});
