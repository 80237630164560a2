import { expect } from "chai";
import { isLastOf, isLocalMount, mayBlock, remoteMountOn } from "../../../../src/host/mount-table/may-block.ts";
import {
  isBeneath,
  joinPath,
  MountTable,
  mountIdentity,
  relativePath,
  sameIdentity,
} from "../../../../src/host/mount-table/mount-table.ts";
import { entry } from "../../../lib/builders/mount-entries.ts";

describe("MountTable", () => {
  const root = entry({ id: 1, parent: 0, point: "/", device: "8:1", fsType: "ext4" });
  const data = entry({ id: 2, parent: 1, point: "/data", device: "8:2", fsType: "xfs" });
  const inner = entry({ id: 3, parent: 2, point: "/data/in", device: "0:9", root: "/sub" });

  it("finds the mount that covers a path", () => {
    const table = new MountTable([root, data, inner]);
    expect(table.covering("/etc")?.id).to.equal(1);
    expect(table.covering("/data")?.id).to.equal(2);
    expect(table.covering("/data/in/deep")?.id).to.equal(3);
    expect(table.covering("/data/inside")?.id).to.equal(2);
    expect(table.at("/data/in")?.id).to.equal(3);
    expect(table.at("/data/in/deep")).to.equal(undefined);
  });

  it("takes the topmost of stacked mounts, and lists all layers", () => {
    const over = entry({ id: 4, parent: 3, point: "/data/in", device: "0:10" });
    const table = new MountTable([root, data, inner, over]);
    expect(table.at("/data/in")?.id).to.equal(4);
    expect(table.layers("/data/in").map((m) => m.id)).to.deep.equal([3, 4]);
  });

  it("does not reach a mount beneath a directory that was mounted over later", () => {
    const cover = entry({ id: 5, parent: 2, point: "/data", device: "0:11" });
    const table = new MountTable([root, data, inner, cover]);
    expect(table.at("/data")?.id).to.equal(5);
    expect(table.at("/data/in")).to.equal(undefined);
    expect(table.layers("/data/in").map((m) => m.id)).to.deep.equal([3]);
  });

  it("does not reach a mount whose ancestor was mounted over further up", () => {
    const a = entry({ id: 6, parent: 1, point: "/a/b", device: "0:12" });
    const over = entry({ id: 7, parent: 1, point: "/a", device: "0:13" });
    expect(new MountTable([root, a, over]).at("/a/b")).to.equal(undefined);
    expect(new MountTable([root, over, a]).at("/a/b")).to.equal(undefined);
  });

  it("follows a root that is mounted over itself", () => {
    const pivot = entry({ id: 8, parent: 1, point: "/", device: "0:14" });
    const below = entry({ id: 9, parent: 8, point: "/x", device: "0:15" });
    const table = new MountTable([root, pivot, below]);
    expect(table.covering("/")?.id).to.equal(8);
    expect(table.at("/x")?.id).to.equal(9);
  });

  it("says what a bind of a path would show", () => {
    const table = new MountTable([root, data, inner]);
    expect(table.identityOf("/data/in/x/y")).to.deep.equal({ device: "0:9", root: "/sub/x/y" });
    expect(table.identityOf("/data")).to.deep.equal({ device: "8:2", root: "/" });
  });

  it("an empty table covers nothing", () => {
    expect(new MountTable([]).covering("/")).to.equal(undefined);
  });
});

describe("paths", () => {
  it("isBeneath compares whole segments", () => {
    expect(isBeneath("/a/b", "/a")).to.equal(true);
    expect(isBeneath("/a", "/a")).to.equal(true);
    expect(isBeneath("/ab", "/a")).to.equal(false);
    expect(isBeneath("/x", "/")).to.equal(true);
  });

  it("relativePath and joinPath are each other's inverse", () => {
    for (const [base, path] of [
      ["/", "/a/b"],
      ["/a", "/a/b"],
      ["/a", "/a"],
      ["/", "/"],
    ] as const) {
      expect(joinPath(base, relativePath(base, path))).to.equal(path);
    }
  });
});

describe("identity of a mount", () => {
  it("tells a file system in memory from the next one, which gets its number", () => {
    const before = mountIdentity(entry({ id: 2, point: "/a", device: "0:50", source: "nodevolume-a" }));
    const next = entry({ id: 3, point: "/b", device: "0:50", source: "nodevolume-b" });
    expect(sameIdentity(next, before)).to.equal(false);
    expect(sameIdentity(next, { device: "0:50", root: "/" }), "an older record does not say").to.equal(true);
  });

  it("does not go by the name that a disk was mounted by", () => {
    const one = mountIdentity(entry({ id: 2, point: "/a", device: "8:1", source: "/dev/sda1" }));
    const other = mountIdentity(entry({ id: 3, point: "/b", device: "8:1", source: "/dev/disk/by-label/data" }));
    expect(sameIdentity(one, other)).to.equal(true);
  });
});

describe("mayBlock", () => {
  const root = entry({ id: 1, parent: 0, point: "/", device: "8:1", fsType: "ext4" });

  it("is true as soon as one mount on the way is not of a local file system", () => {
    const nfs = entry({ id: 2, parent: 1, point: "/nfs", device: "0:9", fsType: "nfs4" });
    const local = entry({ id: 3, parent: 2, point: "/nfs/tmp", device: "0:10", fsType: "tmpfs" });
    const table = new MountTable([root, nfs, local]);
    expect(mayBlock(table, "/etc")).to.equal(false);
    expect(mayBlock(table, "/nfs/x")).to.equal(true);
    expect(mayBlock(table, "/nfs/tmp/x")).to.equal(true);
    expect(mayBlock(new MountTable([]), "/x")).to.equal(true);
  });

  describe("of an overlay", () => {
    const nfs = entry({ id: 2, parent: 1, point: "/nfs", device: "0:9", fsType: "nfs4" });
    const overlay = (point: string, ...superOptions: string[]) =>
      entry({ id: 3, parent: 1, point, device: "0:10", fsType: "overlay", superOptions: ["rw", ...superOptions] });

    it("is false if all its layers are on local file systems", () => {
      const mount = overlay("/o", "lowerdir=/a:/b::/c", "upperdir=/d", "workdir=/e");
      expect(mayBlock(new MountTable([root, nfs, mount]), "/o/x")).to.equal(false);
    });

    for (const option of [
      "lowerdir=/a:/nfs/b",
      "lowerdir+=/nfs",
      "datadir+=/nfs/b",
      "lowerdir=/a::/nfs/b",
      "upperdir=/nfs/u",
    ]) {
      it(`is true with ${option}, and the mount of that layer is what a call waits for`, () => {
        const mount = overlay("/o", option);
        const table = new MountTable([root, nfs, mount]);
        expect(remoteMountOn(table, "/o/x")?.id).to.equal(nfs.id);
        expect(isLocalMount(table, mount)).to.equal(false);
      });
    }

    it("reads names with colons and commas as the kernel writes them", () => {
      const colon = entry({ ...nfs, point: "/n:f,s" });
      const table = new MountTable([root, colon, overlay("/o", String.raw`lowerdir=/a:/n\134:f\054s/b`)]);
      expect(remoteMountOn(table, "/o")?.id).to.equal(colon.id);
      for (const option of [
        String.raw`lowerdir+=/n:f\054s/b`,
        String.raw`upperdir=/n:f\054s/u`,
        String.raw`datadir+=/n:f\054s`,
      ]) {
        const one = new MountTable([root, colon, overlay("/o", option)]);
        expect(remoteMountOn(one, "/o")?.id, option).to.equal(colon.id);
      }
    });

    it("is decided once where an overlay is mounted on its own layer, and for overlays of overlays", () => {
      const onItself = overlay("/o", "lowerdir=/o:/p");
      const onThat = entry({ ...onItself, id: 4, point: "/p", superOptions: ["lowerdir=/o:/nfs"] });
      expect(mayBlock(new MountTable([root, nfs, onItself]), "/o")).to.equal(false);
      expect(mayBlock(new MountTable([root, nfs, onItself, onThat]), "/o")).to.equal(true);
    });

    it("is not asked of that on /, where the agent's own program comes from", () => {
      const mount = entry({ ...overlay("/", "lowerdir=/nfs"), id: 1, parent: 0 });
      expect(mayBlock(new MountTable([mount, nfs]), "/etc")).to.equal(false);
    });
  });

  it("isLastOf: the last mount of a disk is written out when it goes, memory is not", () => {
    const disk = entry({ id: 2, parent: 1, point: "/d", device: "7:0", fsType: "ext4" });
    const again = entry({ id: 3, parent: 1, point: "/e", device: "7:0", fsType: "ext4" });
    const memory = entry({ id: 4, parent: 1, point: "/m", device: "0:9", fsType: "tmpfs" });
    expect(isLastOf(new MountTable([root, disk, memory]), 2)).to.equal(true);
    expect(isLastOf(new MountTable([root, disk, again]), 2)).to.equal(false);
    expect(isLastOf(new MountTable([root, memory]), 4)).to.equal(false);
  });

  it("isLastOf: what the agent's container has of it beneath /host goes with it, another bind of it does not", () => {
    const disk = entry({ id: 2, parent: 1, point: "/d", device: "7:0", fsType: "ext4", shared: 15 });
    const onHost = entry({ id: 3, parent: 1, point: "/host/d", device: "7:0", fsType: "ext4", master: 15 });
    const peer = entry({ id: 4, parent: 1, point: "/e", device: "7:0", fsType: "ext4", shared: 15 });
    const ofOther = entry({ id: 5, parent: 1, point: "/host/e", device: "7:0", fsType: "ext4", master: 16 });
    expect(isLastOf(new MountTable([root, disk, onHost]), 2)).to.equal(true);
    expect(isLastOf(new MountTable([root, disk, onHost, peer]), 2)).to.equal(false);
    expect(isLastOf(new MountTable([root, disk, ofOther]), 2)).to.equal(false);
  });
});
