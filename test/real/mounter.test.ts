import { execFileSync } from "node:child_process";
import { closeSync, existsSync, mkdirSync, openSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { expect } from "chai";
import { InProcessMounter } from "../../src/host/linux/mount/in-process-mounter.ts";
import { loadLibc } from "../../src/host/linux/syscall/libc.ts";
import { mountIdentity } from "../../src/host/mount-table/mount-table.ts";
import type { MountAttributes, TargetPath } from "../../src/host/ports/types.ts";
import { volumeFailure } from "../lib/asserts/volume-failure.ts";
import { type Scratch, scratch } from "./scratch.ts";

const plain: MountAttributes = {
  readOnly: false,
  nosuid: true,
  nodev: true,
  noexec: false,
  nosymfollow: false,
  nodiratime: false,
  atime: "relatime",
};

describe("InProcessMounter", () => {
  const mounter = new InProcessMounter(loadLibc(), "followLinks");
  let place: Scratch;
  let target: TargetPath;

  beforeEach(() => {
    place = scratch();
    mkdirSync(`${place.path}/src`);
    mkdirSync(`${place.path}/mnt`);
    writeFileSync(`${place.path}/src/file`, "data");
    target = { prefix: `${place.path}/mnt`, path: `${place.path}/mnt/deep/er/target` };
  });
  afterEach(() => place[Symbol.dispose]());

  const source = (path: string) => ({ root: place.path, path });

  async function bindSource(attributes = plain): Promise<number> {
    const info = await mounter.inspect(source("/src"));
    if (info === undefined) throw new Error("the source is missing");
    await mounter.makeTarget(target, "directory");
    await mounter.bind(source("/src"), info.identity, target, attributes);
    return place.mounts().at(-1)?.id ?? -1;
  }

  it("bind shows the source, read-only, nosuid and nodev, in a peer group of its own", async () => {
    await bindSource({ ...plain, readOnly: true, noexec: true, atime: "noatime", nosymfollow: true });
    const [mount] = place.mounts();
    expect(readdirSync(target.path)).to.deep.equal(["file"]);
    expect(mount).to.include({ point: target.path, root: "/src", fsType: "tmpfs" });
    expect(mount?.options).to.include.members(["ro", "nosuid", "nodev", "noexec", "noatime", "nosymfollow"]);
    expect(() => writeFileSync(`${target.path}/x`, "")).to.throw("EROFS");
    expect(mount?.shared).to.be.a("number");
    expect(mount?.master).to.equal(undefined);
  });

  it("inspect says what a later bind shows: the same identity", async () => {
    const info = await mounter.inspect(source("/src"));
    await bindSource();
    const [mount] = place.mounts();
    expect(info?.identity).to.deep.equal(mount && mountIdentity(mount));
    expect(info).to.include({ kind: "directory", canonicalPath: `${place.path}/src` });
  });

  it("inspect follows links, but never out of its root", async () => {
    symlinkSync("/src", `${place.path}/link`);
    symlinkSync("../../../../../../etc", `${place.path}/escape`);
    expect((await mounter.inspect(source("/link")))?.canonicalPath).to.equal(`${place.path}/src`);
    expect(await mounter.inspect(source("/escape"))).to.equal(undefined);
    expect(await mounter.inspect(source("/src/file/below"))).to.equal(undefined);
  });

  it("bind refuses a source that became another one", async () => {
    mkdirSync(`${place.path}/other`);
    const other = await mounter.inspect(source("/other"));
    await mounter.makeTarget(target, "directory");
    if (other === undefined) throw new Error("missing");
    const error = await volumeFailure(mounter.bind(source("/src"), other.identity, target, plain));
    expect(error).to.include({ reason: "SetUpFailed", errorClass: "transient" });
    expect(place.mounts()).to.have.length(0);
  });

  it("bind refuses to cover a mount", async () => {
    await bindSource();
    const error = await volumeFailure(bindSource());
    expect(error.reason).to.equal("ForeignMount");
    expect(place.mounts()).to.have.length(1);
  });

  it("a symbolic link on the way to a target, or as the target, is refused and nothing is made", async () => {
    mkdirSync(`${place.path}/outside`);
    symlinkSync(`${place.path}/outside`, `${place.path}/mnt/deep`);
    expect((await volumeFailure(mounter.makeTarget(target, "directory"))).reason).to.equal("SymlinkInPath");
    const leaf = { prefix: target.prefix, path: `${target.prefix}/deep` };
    expect((await volumeFailure(mounter.inspectTarget(leaf))).reason).to.equal("SymlinkInPath");
    expect(readdirSync(`${place.path}/outside`)).to.deep.equal([]);
  });

  it("a file where a directory must be is its own reason", async () => {
    mkdirSync(`${place.path}/mnt/deep`);
    writeFileSync(`${place.path}/mnt/deep/er`, "");
    expect((await volumeFailure(mounter.makeTarget(target, "directory"))).reason).to.equal("TargetNotDirectory");
    const leaf = { prefix: target.prefix, path: `${target.prefix}/deep/er` };
    expect((await volumeFailure(mounter.makeTarget(leaf, "directory"))).reason).to.equal("TargetNotDirectory");
  });

  it("mountFilesystem mounts a tmpfs with size and mode, and explains options that the kernel refuses", async () => {
    await mounter.makeTarget(target, "directory");
    const request = { fsType: "tmpfs", source: "nodevolume", attributes: plain, target };
    const error = await volumeFailure(mounter.mountFilesystem({ ...request, options: ["bogus=1"] }));
    expect(error.reason).to.equal("OptionsRefused");
    expect(error.message).to.contain("Unknown parameter 'bogus'");
    await mounter.mountFilesystem({ ...request, options: ["size=65536", "mode=0777"] });
    const [mount] = place.mounts();
    expect(mount).to.include({ fsType: "tmpfs", source: "nodevolume" });
    expect(mount?.superOptions).to.include("size=64k");
    await mounter.reconfigure(target, mount?.id ?? -1, ["size=131072"]);
    expect(place.mounts()[0]?.superOptions).to.include("size=128k");
  });

  it("an unknown file system is its own reason", async () => {
    await mounter.makeTarget(target, "directory");
    const request = { fsType: "nosuchfs", source: "x", options: [], attributes: plain, target };
    expect((await volumeFailure(mounter.mountFilesystem(request))).reason).to.equal("FilesystemUnsupported");
  });

  it("setAttributes changes a mount in place, both ways", async () => {
    const id = await bindSource({ ...plain, readOnly: true });
    await mounter.setAttributes(target, id, { ...plain, noexec: true });
    expect(place.mounts()[0]?.options).to.include("rw").and.to.include("noexec");
    await mounter.setAttributes(target, id, { ...plain, readOnly: true, nodev: false });
    expect(place.mounts()[0]?.options).to.include("ro").and.not.to.include("nodev");
  });

  it("unmount and setAttributes touch only the mount that was named", async () => {
    const id = await bindSource();
    execFileSync("mount", ["-t", "tmpfs", "foreign", target.path]);
    expect((await volumeFailure(mounter.unmount(target, id, "Normal"))).errorClass).to.equal("transient");
    expect((await volumeFailure(mounter.setAttributes(target, id, plain))).errorClass).to.equal("transient");
    expect(place.mounts().map((m) => m.source)).to.include("foreign");
    execFileSync("umount", [target.path]);
    await mounter.unmount(target, id, "Normal");
    expect(place.mounts()).to.have.length(0);
  });

  it("unmount says busy, and Lazy detaches", async () => {
    const id = await bindSource();
    const held = openSync(`${target.path}/file`, "r");
    try {
      expect((await volumeFailure(mounter.unmount(target, id, "Normal"))).reason).to.equal("TargetBusy");
      await mounter.unmount(target, id, "Lazy");
      expect(place.mounts()).to.have.length(0);
    } finally {
      closeSync(held);
    }
  });

  it("removeTarget removes an empty target, and neither data nor a mount point", async () => {
    const id = await bindSource();
    await mounter.removeTarget(target, "directory");
    expect(place.mounts()).to.have.length(1);
    await mounter.unmount(target, id, "Normal");
    writeFileSync(`${target.path}/precious`, "data");
    await mounter.removeTarget(target, "directory");
    expect(existsSync(`${target.path}/precious`)).to.equal(true);
    execFileSync("rm", [`${target.path}/precious`]);
    await mounter.removeTarget(target, "directory");
    expect(existsSync(target.path)).to.equal(false);
    await mounter.removeTarget(target, "directory");
  });

  it("a file is bound on a file that was made for it", async () => {
    const info = await mounter.inspect(source("/src/file"));
    if (info === undefined) throw new Error("missing");
    await mounter.makeTarget(target, "file");
    await mounter.bind(source("/src/file"), info.identity, target, plain);
    expect(place.mounts()[0]?.root).to.equal("/src/file");
    expect((await mounter.inspectTarget(target))?.kind).to.equal("file");
  });

  it("makeSource makes what is missing and leaves what is there", async () => {
    await mounter.makeSource(source("/new/a/b"), "directory", 0o755);
    await mounter.makeSource(source("/new/a/f"), "file", 0o644);
    expect(readdirSync(`${place.path}/new/a`).sort()).to.deep.equal(["b", "f"]);
    await mounter.makeSource(source("/src"), "directory", 0o755);
    expect(readdirSync(`${place.path}/src`)).to.deep.equal(["file"]);
  });

  it("no call leaves a descriptor open", async () => {
    const before = readdirSync("/proc/self/fd").length;
    const id = await bindSource();
    await volumeFailure(bindSource());
    await mounter.inspectTarget(target);
    await mounter.setAttributes(target, id, plain);
    await mounter.makeSource(source("/new/a/f"), "file", 0o644);
    await mounter.unmount(target, id, "Normal");
    await mounter.removeTarget(target, "directory");
    expect(readdirSync("/proc/self/fd").length).to.equal(before);
  });
});
