import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { expect } from "chai";
import { loopDevice } from "../lib/loop-device.ts";
import { intent, RealNode } from "../lib/real-node.ts";
import { need } from "../lib/requirements.ts";

const name = "node.volume-1";

describe("planner and executor on the real kernel", () => {
  let node: RealNode;

  before(function () {
    need(this, "root");
  });
  beforeEach(() => {
    node = new RealNode();
    writeFileSync(`${node.path}/src/here`, "");
  });
  afterEach(async () => {
    await node[Symbol.asyncDispose]();
  });

  const source = () => ({ hostPath: { path: `${node.path}/src` } });
  const memory = { emptyDir: { medium: "Memory" } } as const;
  const one = (more: object = {}, mount: object = {}) =>
    intent({ source: source(), ...more, mounts: [{ path: node.target("a"), ...mount }] });
  const problemAt = async (path: string) => (await node.volume(name)).problems.get(path)?.reason;

  describe("drift", () => {
    it("a remount by somebody else is undone in place", async () => {
      node.want(one({}, { readOnly: true }));
      await node.converge();
      const id = node.mountAt(node.target("a"))?.id;
      execFileSync("mount", ["-o", "remount,bind,rw,nosuid", node.target("a")]);
      await node.converge();
      expect(node.mountAt(node.target("a"))?.options).to.include.members(["ro", "nodev", "nosuid"]);
      expect(node.mountAt(node.target("a"))?.id).to.equal(id);
    });

    it("a source that was renamed is noticed, and what stands in its place now is shown", async () => {
      node.want(one());
      await node.converge();
      renameSync(`${node.path}/src`, `${node.path}/old`);
      const lost = await node.volume(name);
      expect(lost.failure?.reason).to.equal("SourceNotFound");
      expect(readdirSync(node.target("a")), "what is mounted stays until there is something else").to.include("here");
      mkdirSync(`${node.path}/src`);
      writeFileSync(`${node.path}/src/new`, "");
      node.forgetFailures();
      await node.converge();
      expect(readdirSync(node.target("a"))).to.deep.equal(["new"]);
    });

    it("a source that was removed and made again is shown again", async () => {
      mkdirSync(`${node.path}/src/sub`);
      node.want(
        intent({ source: { hostPath: { path: `${node.path}/src/sub` } }, mounts: [{ path: node.target("a") }] }),
      );
      await node.converge();
      rmdirSync(`${node.path}/src/sub`);
      expect((await node.volume(name)).failure?.reason).to.equal("SourceNotFound");
      mkdirSync(`${node.path}/src/sub`);
      writeFileSync(`${node.path}/src/sub/back`, "");
      node.forgetFailures();
      await node.converge();
      expect(readdirSync(node.target("a"))).to.deep.equal(["back"]);
    });
  });

  describe("what is foreign is not touched", () => {
    const foreignAt = (path: string) => {
      mkdirSync(path, { recursive: true });
      execFileSync("mount", ["-t", "tmpfs", "foreign", path]);
      writeFileSync(`${path}/canary`, "alive");
    };
    const canary = (path: string) => expect(readFileSync(`${path}/canary`, "utf8")).to.equal("alive");

    it("a mount on a target keeps ours away until it goes", async () => {
      foreignAt(node.target("a"));
      node.want(one());
      expect(await problemAt(node.target("a"))).to.equal("ForeignMount");
      canary(node.target("a"));
      execFileSync("umount", [node.target("a")]);
      await node.converge();
      expect(readdirSync(node.target("a"))).to.deep.equal(["here"]);
    });

    it("a mount over ours is reported, and neither is unmounted when the intent goes", async () => {
      node.want(one());
      await node.converge();
      foreignAt(node.target("a"));
      expect(await problemAt(node.target("a"))).to.equal("ForeignMountOnTarget");
      node.want(one({ deleting: true, generation: 2 }));
      const volume = await node.volume(name);
      expect(volume.phase).to.equal("tearDown");
      expect(volume.view.inUse).to.equal(true);
      canary(node.target("a"));
      execFileSync("umount", [node.target("a")]);
      expect((await node.volume(name)).phase).to.equal("released");
    });

    it("a mount over a directory above hides ours: nothing is mounted a second time", async () => {
      node.want(intent({ source: source(), mounts: [{ path: node.target("deep/a") }] }));
      await node.converge();
      foreignAt(node.target("deep"));
      expect(await problemAt(node.target("deep/a"))).to.equal("TargetCovered");
      expect(node.mounts().filter((mount) => mount.point === node.target("deep/a"))).to.have.length(1);
      canary(node.target("deep"));
    });

    it("adopt: IfSame takes a mount over only if it shows the same", async () => {
      mkdirSync(node.target("a"));
      execFileSync("mount", ["--bind", `${node.path}/src`, node.target("a")]);
      const id = node.mountAt(node.target("a"))?.id;
      node.want(one());
      expect(await problemAt(node.target("a"))).to.equal("ForeignMount");
      node.want(one({ adopt: "IfSame", generation: 2 }));
      const volume = await node.volume(name);
      expect([...volume.problems]).to.deep.equal([]);
      expect(node.mountAt(node.target("a"))?.id).to.equal(id);
      expect(node.mountAt(node.target("a"))?.options, "options are brought to what is wanted").to.include("nosuid");
      node.want(one({ adopt: "IfSame", deleting: true, generation: 3 }));
      expect((await node.volume(name)).phase).to.equal("released");
      expect(existsSync(node.target("a")), "a directory that we did not make stays").to.equal(true);
    });

    it("a mount that somebody put in place of ours stays when the intent goes", async () => {
      node.want(one());
      await node.converge();
      execFileSync("umount", [node.target("a")]);
      foreignAt(node.target("a"));
      expect(await problemAt(node.target("a"))).to.equal("ForeignMount");
      node.want(one({ deleting: true, generation: 2 }));
      expect((await node.volume(name)).phase).to.equal("released");
      canary(node.target("a"));
    });
  });

  describe("changes", () => {
    it("options change in place, the mount stays the same", async () => {
      node.want(one());
      await node.converge();
      const id = node.mountAt(node.target("a"))?.id;
      node.want(one({ generation: 2 }, { readOnly: true, mountOptions: ["noexec", "noatime"] }));
      await node.converge();
      expect(node.mountAt(node.target("a"))?.options).to.include.members(["ro", "noexec", "noatime"]);
      expect(node.mountAt(node.target("a"))?.id).to.equal(id);
    });

    it("a path changes new first, then old", async () => {
      node.want(one());
      await node.converge();
      node.done.length = 0;
      node.want(intent({ source: source(), generation: 2, mounts: [{ path: node.target("b") }] }));
      await node.converge();
      expect(node.done).to.deep.equal(["publish", "unpublish"]);
      expect(node.mounts().map((mount) => mount.point)).to.deep.equal([node.target("b")]);
      expect(existsSync(node.target("a"))).to.equal(false);
    });

    it("another source is another intent: the old one goes first on the same path", async () => {
      mkdirSync(`${node.path}/other`);
      node.want(one());
      await node.converge();
      const other = intent({
        name: "node.other-1",
        source: { hostPath: { path: `${node.path}/other` } },
        mounts: [{ path: node.target("a") }],
      });
      node.want(one({ deleting: true, generation: 2 }), other);
      await node.converge();
      expect(node.mountAt(node.target("a"))?.root).to.equal("/other");
      expect(node.mounts()).to.have.length(1);
    });

    it("two intents on one path: what is mounted stays, and neither gets a path that none had", async () => {
      const other = (path: string) => intent({ name: "node.other-1", source: memory, mounts: [{ path }] });
      node.want(one(), other(node.target("a/below")));
      const plan = await node.converge();
      expect(plan.volumes.get(name)?.problems.get(node.target("a"))?.reason).to.equal("PathConflict");
      expect(plan.volumes.get("node.other-1")?.problems.get(node.target("a/below"))?.reason).to.equal("PathConflict");
      node.want(one());
      await node.converge();
      node.want(one(), other(node.target("a")));
      const second = await node.converge();
      expect(second.volumes.get(name)?.problems.size).to.equal(0);
      expect(second.volumes.get("node.other-1")?.problems.get(node.target("a"))?.reason).to.equal("PathConflict");
    });
  });

  describe("refusals touch nothing", () => {
    it("a target outside the allowed prefixes", async () => {
      const outside = `${node.path}/elsewhere`;
      node.want(intent({ source: source(), mounts: [{ path: outside }] }));
      expect(await problemAt(outside)).to.equal("PathNotAllowed");
      expect(existsSync(outside)).to.equal(false);
    });

    it("the prefix itself", async () => {
      node.want(intent({ source: source(), mounts: [{ path: `${node.path}/mnt` }] }));
      expect(await problemAt(`${node.path}/mnt`)).to.equal("PathNotAllowed");
    });

    it("a source in the agent's own state, by name and by a link", async () => {
      symlinkSync(`${node.stateDir}`, `${node.path}/link`);
      for (const path of [`${node.stateDir}/data`, `${node.path}/link`]) {
        node.want(intent({ source: { hostPath: { path } }, mounts: [{ path: node.target("a") }] }));
        mkdirSync(`${node.stateDir}/data`, { recursive: true });
        const volume = await node.volume(name);
        expect(volume.problems.get("")?.reason ?? volume.failure?.reason, path).to.equal("SourceNotAllowed");
        expect(node.mounts()).to.deep.equal([]);
      }
    });

    it("a symbolic link on the way to the target", async () => {
      mkdirSync(`${node.path}/elsewhere`);
      symlinkSync(`${node.path}/elsewhere`, node.target("link"));
      node.want(intent({ source: source(), mounts: [{ path: node.target("link/a") }] }));
      expect((await node.volume(name)).failure?.reason).to.equal("SymlinkInPath");
      expect(readdirSync(`${node.path}/elsewhere`)).to.deep.equal([]);
    });

    it("a hostPath of another type, and one that is missing", async () => {
      node.want(
        intent({
          source: { hostPath: { path: `${node.path}/src`, type: "File" } },
          mounts: [{ path: node.target("a") }],
        }),
      );
      expect((await node.volume(name)).failure?.reason).to.equal("SourceWrongType");
      node.want(
        intent({ source: { hostPath: { path: "/no/such" } }, generation: 2, mounts: [{ path: node.target("a") }] }),
      );
      expect((await node.volume(name)).failure?.reason).to.equal("SourceNotFound");
    });
  });

  describe("release", () => {
    it("a target in use stays, and the wait names the process", async () => {
      node.want(one());
      await node.converge();
      const sleeper = spawn("sleep", ["60"], { cwd: node.target("a") });
      await once(sleeper, "spawn");
      node.want(one({ deleting: true, generation: 2 }));
      const busy = await node.volume(name);
      expect(busy.failure?.reason).to.equal("TargetBusy");
      expect(busy.failure?.message).to.contain(`pid ${sleeper.pid} (sleep)`);
      sleeper.kill();
      await once(sleeper, "exit");
      node.forgetFailures();
      expect((await node.volume(name)).phase).to.equal("released");
    });

    it("a volume that another mount namespace still shows is not released (safety rule 6)", async () => {
      const volume = (deleting: boolean) =>
        intent({ source: memory, deleting, generation: deleting ? 2 : 1, mounts: [{ path: node.target("a") }] });
      node.want(volume(false));
      await node.converge();
      const container = spawn("unshare", ["-m", "--propagation", "private", "sh", "-c", "echo up; exec sleep 60"]);
      await once(container.stdout, "data");
      node.want(volume(true));
      const held = await node.volume(name);
      expect(held.failure?.reason).to.equal("StillReferenced");
      expect(held.failure?.message).to.contain(`pid ${container.pid}`);
      expect(held.view.inUse).to.equal(true);
      expect(node.mounts(), "the node's own table is clean already").to.deep.equal([]);
      container.kill();
      await once(container, "exit");
      node.forgetFailures();
      expect((await node.volume(name)).phase).to.equal("released");
    });

    it("an intent that vanished unmounts nothing, and can be named again (law L8)", async () => {
      node.want(one());
      await node.converge();
      const before = node.mounts();
      node.want();
      expect((await node.volume(name)).phase).to.equal("unexplained");
      expect(node.mounts()).to.deep.equal(before);
      node.want(one({ uid: "uid-2" }));
      await node.converge();
      expect(node.mounts()).to.deep.equal(before);
      node.want(one({ uid: "uid-2", deleting: true, generation: 2 }));
      expect((await node.volume(name)).phase).to.equal("released");
      expect(node.mounts()).to.deep.equal([]);
    });

    it("deletionPolicy Retain leaves the mount with nobody in charge", async () => {
      node.want(one({ deletionPolicy: "Retain" }));
      await node.converge();
      node.want(one({ deletionPolicy: "Retain", deleting: true, generation: 2 }));
      expect((await node.volume(name)).phase).to.equal("retained");
      expect(node.mounts()).to.have.length(1);
    });

    it("a lost journal does not make our own file systems foreign (safety rule 24)", async () => {
      const volume = (deleting: boolean) =>
        intent({ source: memory, deleting, generation: deleting ? 2 : 1, mounts: [{ path: node.target("a") }] });
      node.want(volume(false));
      await node.converge();
      const before = node.mounts();
      await node.restart();
      execFileSync("rm", [`${node.stateDir}/journal`]);
      await node.converge();
      expect(node.mounts()).to.deep.equal(before);
      await node.restart();
      execFileSync("rm", [`${node.stateDir}/journal`]);
      node.want(volume(true));
      expect((await node.volume(name)).phase).to.equal("released");
      expect(node.mounts()).to.deep.equal([]);
    });
  });

  describe("local block devices", () => {
    before(function () {
      need(this, "loop-devices", "mkfs.ext4", "ext4");
    });

    let disk: string;
    beforeEach(() => {
      mkdirSync(`${node.path}/disks`);
      disk = node.keep(loopDevice(`${node.path}/disks`, "disk", 32)).path;
    });
    const local = (spec: object = {}) =>
      intent({ source: { local: { path: disk } }, ...spec, mounts: [{ path: node.target("a") }] });

    it("one byte at its beginning or end is enough: it is not formatted (law L11)", async () => {
      for (const offset of [512, 32 * 1024 * 1024 - 512]) {
        execFileSync("dd", [`of=${disk}`, "bs=1", `seek=${offset}`, "count=1", "conv=notrunc", "status=none"], {
          input: "x",
        });
        node.want(local());
        expect((await node.volume(name)).failure?.reason, `byte at ${offset}`).to.equal("DeviceNotEmpty");
        execFileSync("dd", [`of=${disk}`, "bs=1", `seek=${offset}`, "count=1", "conv=notrunc", "status=none"], {
          input: "\0",
        });
        node.forgetFailures();
      }
      expect((await node.volume(name)).failure?.message).to.equal(undefined);
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

    it("a device that is mounted elsewhere, or swap, is busy", async () => {
      execFileSync("mkfs.ext4", ["-q", disk]);
      mkdirSync(`${node.path}/elsewhere`);
      execFileSync("mount", [disk, `${node.path}/elsewhere`]);
      node.want(local());
      expect((await node.volume(name)).failure?.reason).to.equal("DeviceBusy");
      execFileSync("umount", [`${node.path}/elsewhere`]);
    });

    it("options that can only be given at mount time take the volume down and up again", async () => {
      node.want(local());
      await node.converge();
      writeFileSync(`${node.target("a")}/token`, "data");
      node.want(local({ fsType: "ext4", generation: 2, mountOptions: ["data=writeback"] }));
      await node.converge();
      expect(node.done).to.include("reconfigure OptionsRefused");
      expect(node.mountAt(node.target("a"))?.superOptions).to.include("data=writeback");
      expect(readFileSync(`${node.target("a")}/token`, "utf8")).to.equal("data");
    });

    it("options that the kernel changes in place are changed in place", async () => {
      node.want(local());
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
});
