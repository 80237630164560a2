import { execFileSync } from "node:child_process";
import {
  closeSync,
  mkdirSync,
  openSync,
  readdirSync,
  readSync,
  rmdirSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { expect } from "chai";
import { intent } from "../../hack/lib/agent-on-kernel/intent.ts";
import { slow } from "../../hack/lib/lanes/slow.ts";
import { asVolumeName } from "../../src/agent/model/identities.ts";
import type { VolumeSource } from "../../src/api/types.gen.ts";
import { need } from "../lib/asserts/requirements.ts";
import { loopDevice } from "../lib/kernel/disks/loop-device.ts";
import type { RealNode } from "../lib/kernel/real-node.ts";
import { withNode } from "../lib/kernel/with-node.ts";

const name = asVolumeName("node.volume-1");

describe("a source that a pod may write above, on the real kernel", () => {
  let node: RealNode;
  let pod: string;

  withNode([], (made) => {
    node = made;
    pod = `${node.path}/src/pod`;
    mkdirSync(`${pod}/sub`, { recursive: true });
    mkdirSync(`${node.path}/precious`);
    writeFileSync(`${node.path}/precious/secret`, "");
  });

  const want = (source: VolumeSource, spec: object = {}) =>
    node.want(intent({ source, ...spec, mounts: [{ path: node.target("a") }] }));

  async function failureAfter(change: () => void): Promise<string | undefined> {
    await node.converge();
    expect(node.mountAt(node.target("a")), "mounted at first").not.to.equal(undefined);
    change();
    node.forgetFailures();
    return (await node.volume(name)).failure?.reason;
  }

  it("is not followed through a link that stands in its place", async () => {
    want({ hostPath: { path: `${pod}/sub` } });
    const reason = await failureAfter(() => {
      rmdirSync(`${pod}/sub`);
      symlinkSync("../../precious", `${pod}/sub`);
    });
    expect(readdirSync(node.target("a"))).to.deep.equal([]);
    expect(reason).to.equal("SourceDiffers");
  });

  it("is followed when it is back at the same place, as what it was", async () => {
    want({ hostPath: { path: `${pod}/sub` } });
    const reason = await failureAfter(() => {
      rmdirSync(`${pod}/sub`);
      mkdirSync(`${pod}/sub`);
      writeFileSync(`${pod}/sub/new`, "");
    });
    expect(reason).to.equal(undefined);
    expect(readdirSync(node.target("a"))).to.deep.equal(["new"]);
  });

  it("is not followed as a file of another kind", async () => {
    want({ hostPath: { path: `${pod}/sub` } });
    const reason = await failureAfter(() => {
      rmdirSync(`${pod}/sub`);
      execFileSync("mkfifo", [`${pod}/sub`]);
    });
    expect(reason).to.equal("SourceDiffers");
  });

  it("is not made through a link", async () => {
    symlinkSync("../../precious", `${pod}/link`);
    want({ hostPath: { path: `${pod}/link/made/here`, type: "DirectoryOrCreate" } });
    expect((await node.volume(name)).failure?.reason).to.equal("SymlinkInPath");
    want({ hostPath: { path: `${pod}/link/file`, type: "FileOrCreate" } }, { generation: 2 });
    expect((await node.volume(name)).failure?.reason).to.equal("SymlinkInPath");
    expect(readdirSync(`${node.path}/precious`)).to.deep.equal(["secret"]);
  });

  describe("with the node of a disk", () => {
    let disk: string;

    before(function () {
      need(this, "loop-devices", "mkfs.ext4", "ext4");
    });
    beforeEach(() => {
      disk = node.keep(loopDevice(`${node.path}/disks`, "disk", 32)).path;
    });

    const makeNode = (path: string, of = disk) => {
      const [major, minor] = execFileSync("stat", ["-c", "%Hr %Lr", of], { encoding: "utf8" }).trim().split(" ");
      execFileSync("mknod", [path, "b", major ?? "", minor ?? ""]);
    };

    it("in place of a directory, is neither formatted nor mounted", async () => {
      want({ local: { path: `${pod}/sub` } });
      const reason = await failureAfter(() => {
        rmdirSync(`${pod}/sub`);
        makeNode(`${pod}/sub`);
      });
      expect(isWrittenTo(disk)).to.equal(false);
      expect(node.mountAt(node.target("a"))?.fsType).to.equal("tmpfs");
      expect(reason).to.equal("SourceWrongType");
    });

    it("that was made outside devtmpfs is not taken for a device, by any source", async () => {
      execFileSync("mkfs.ext4", ["-q", disk]);
      makeNode(`${pod}/node`);
      const sources: [VolumeSource, object][] = [
        [{ local: { path: `${pod}/node` } }, { fsType: "ext4" }],
        [{ local: { path: `${pod}/node` } }, { volumeMode: "Block" }],
        [{ hostPath: { path: `${pod}/node`, type: "BlockDevice" } }, {}],
      ];
      for (const [index, [source, spec]] of sources.entries()) {
        want(source, { ...spec, generation: index + 1 });
        expect((await node.volume(name)).failure?.reason).to.equal("SourceWrongType");
      }
      expect(node.mounts()).to.deep.equal([]);
    });

    it("is not followed to another disk by a link, once it is set up", async () => {
      const other = node.keep(loopDevice(`${node.path}/disks`, "other", 32)).path;
      for (const device of [disk, other]) execFileSync("mkfs.ext4", ["-q", device]);
      symlinkSync(disk, `${pod}/link`);
      want({ local: { path: `${pod}/link` } });
      const reason = await failureAfter(() => {
        for (const mount of node.mounts().reverse()) execFileSync("umount", [mount.point]);
        unlinkSync(`${pod}/link`);
        symlinkSync(other, `${pod}/link`);
      });
      expect(reason).to.equal("SourceDiffers");
      expect(node.mounts()).to.deep.equal([]);
    });

    describe("that is named by a link in /dev", () => {
      const links: string[] = [];

      afterEach(() => {
        for (const link of links.splice(0)) rmSync(link, { force: true });
      });

      /**
       * What becomes of a volume whose link leads to another device, by default with the same on it, when it has to be
       * mounted again.
       */
      async function reasonAfterChange(link: string, isSame = true): Promise<string | undefined> {
        links.push(link);
        const other = node.keep(loopDevice(`${node.path}/disks`, "other", 32)).path;
        for (const device of [disk, other]) execFileSync("mkfs.ext4", ["-q", device]);
        if (isSame) execFileSync("dd", [`if=${disk}`, `of=${other}`, "bs=1M", "conv=fsync", "status=none"]);
        symlinkSync(disk, link);
        want({ local: { path: link } });
        return await failureAfter(() => {
          for (const mount of node.mounts().reverse()) execFileSync("umount", [mount.point]);
          unlinkSync(link);
          symlinkSync(other, link);
        });
      }

      slow("is followed: a disk gets another name when it is plugged in again", async () => {
        expect(await reasonAfterChange(`/dev/nodevolume-test-${process.pid}`)).to.equal(undefined);
        expect(node.mountAt(node.target("a"))?.fsType).to.equal("ext4");
      });

      slow("is not followed to a disk with another file system", async () => {
        expect(await reasonAfterChange(`/dev/nodevolume-test-${process.pid}`, false)).to.equal("SourceDiffers");
      });

      slow("is not in /dev/shm, where anybody may make links", async () => {
        expect(await reasonAfterChange(`/dev/shm/nodevolume-test-${process.pid}`)).to.equal("SourceDiffers");
      });
    });

    it("a disk is formatted only with a file system that the spec names (law L11)", async () => {
      want({ local: { path: disk } });
      expect((await node.volume(name)).failure?.reason).to.equal("FilesystemMissing");
      expect(isWrittenTo(disk)).to.equal(false);
      want({ local: { path: disk } }, { fsType: "ext4", generation: 2 });
      await node.converge();
      expect(node.mountAt(node.target("a"))?.fsType).to.equal("ext4");
    });

    it("a file system that nobody promises to mount from a disk is not given to the kernel", async () => {
      execFileSync("mkswap", [disk], { stdio: "ignore" });
      want({ local: { path: disk } });
      const { failure } = await node.volume(name);
      expect(failure?.reason).to.equal("FilesystemUnsupported");
      expect(failure?.message).to.contain("only ext2, ext3, ext4, xfs, btrfs");
    });
  });
});

function isWrittenTo(path: string): boolean {
  const first = Buffer.alloc(1024 * 1024);
  const fd = openSync(path, "r");
  readSync(fd, first, 0, first.length, 0);
  closeSync(fd);
  return first.some((byte) => byte !== 0);
}
