import { execFileSync } from "node:child_process";
import {
  chmodSync,
  chownSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  renameSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { expect } from "chai";
import { silent } from "../../hack/lib/silent-log.ts";
import { ChildRunner } from "../../src/host/linux/child/child-runner.ts";
import { fits, rightsFor } from "../../src/host/linux/files/group-rights.ts";
import { LinuxOwnership } from "../../src/host/linux/files/linux-ownership.ts";
import { setVolumeOwnership } from "../../src/host/linux/files/set-volume-ownership.ts";
import { allTiers, LinuxMountTable } from "../../src/host/linux/mount-table/linux-mount-table.ts";
import { loadLibc } from "../../src/host/linux/syscall/libc.ts";
import type { OwnershipRequest } from "../../src/host/ports/ownership.ts";
import { realSystem } from "../../src/system.ts";
import { childCommand } from "../lib/kernel/child-command.ts";
import { exchange } from "../lib/swapper/steps.ts";
import { Swapper } from "../lib/swapper/swapper.ts";
import { type GroupVolume, groupOf, withGroupVolume } from "./group-volume.ts";
import type { Scratch } from "./scratch.ts";

const libc = loadLibc();
const quiet = () => {};

describe("files that are given to a group", () => {
  let place: Scratch;
  let volume: string;
  let request: GroupVolume["request"];
  withGroupVolume((there) => {
    ({ place, volume, request } = there);
  });

  const give = (more?: Partial<OwnershipRequest>) => setVolumeOwnership(libc, request(more), quiet);
  const of = groupOf;

  it("get its rights, as kubelet has it: directories are entered and inherit the group, links are only owned", () => {
    mkdirSync(`${volume}/d`, { mode: 0o700 });
    writeFileSync(`${volume}/d/f`, "", { mode: 0o600 });
    writeFileSync(`${place.path}/outside`, "", { mode: 0o600 });
    symlinkSync(`${place.path}/outside`, `${volume}/d/link`);
    execFileSync("mkfifo", ["-m", "600", `${volume}/fifo`]);
    const result = give();
    expect(result).to.deep.equal({ entries: 5, failed: 0, examples: [] });
    expect(["", "/d", "/d/f", "/fifo"].map((path) => of(volume + path))).to.deep.equal([
      "2000 2775",
      "2000 2770",
      "2000 660",
      "2000 660",
    ]);
    expect(lstatSync(`${volume}/d/link`).gid).to.equal(2000);
    expect(of(`${place.path}/outside`)).to.equal("0 600");
  });

  it("are left alone where the root fits and the policy is OnRootMismatch, and looked at again with Always", () => {
    writeFileSync(`${volume}/f`, "", { mode: 0o600 });
    expect(give({ policy: "OnRootMismatch" }).entries).to.equal(2);
    chownSync(`${volume}/f`, 0, 0);
    expect(give({ policy: "OnRootMismatch" }).entries).to.equal(0);
    expect(of(`${volume}/f`)).to.equal("0 660");
    expect(give().entries).to.equal(2);
    expect(of(`${volume}/f`)).to.equal("2000 660");
    for (const spoil of [
      () => chmodSync(volume, 0o775),
      () => chmodSync(volume, 0o2755),
      () => chownSync(volume, 0, 1),
    ]) {
      spoil();
      expect(give({ policy: "OnRootMismatch" }).entries).to.equal(2);
    }
  });

  it("are those of the volume alone: nothing that is mounted in it, and nothing if it is not there", () => {
    mkdirSync(`${volume}/other`);
    execFileSync("mount", ["-t", "tmpfs", "-o", "mode=0700", "other", `${volume}/other`]);
    writeFileSync(`${volume}/other/f`, "", { mode: 0o600 });
    // Of the same file system, but by another way: it may be anybody's.
    mkdirSync(`${volume}/bound`);
    mkdirSync(`${place.path}/elsewhere`);
    execFileSync("mount", ["--bind", `${place.path}/elsewhere`, `${volume}/bound`]);
    expect(give()).to.deep.include({ entries: 1, failed: 0 });
    expect([of(`${volume}/other/f`), of(`${volume}/other`), of(`${place.path}/elsewhere`)]).to.deep.equal([
      "0 600",
      "0 700",
      "0 755",
    ]);
    const { mountID } = request();
    for (const wrong of [
      { mountID: mountID + 1 },
      { device: "0:0" },
      { path: place.path },
      { path: `${volume}/none` },
    ]) {
      expect(() => give(wrong)).to.throw(/not the file or directory that was checked/);
    }
    symlinkSync(volume, `${place.path}/link`);
    expect(() => give({ path: `${place.path}/link` })).to.throw(/not the file or directory that was checked/);
    symlinkSync(place.path, `${place.path}/above`);
    expect(() => give({ path: `${place.path}/above/volume` })).to.throw(/ELOOP/);
  });

  it("are those in a directory that is no mount, by the name that its file system has for it, and of no other", () => {
    mkdirSync(`${volume}/d/e`, { recursive: true });
    mkdirSync(`${volume}/other`);
    const inside = { path: `${volume}/d`, directory: "/d" };
    expect(give(inside)).to.deep.include({ entries: 2, failed: 0 });
    expect(["", "/d", "/d/e", "/other"].map((path) => of(volume + path))).to.deep.equal([
      "0 755",
      "2000 2775",
      "2000 2775",
      "0 755",
    ]);
    renameSync(`${volume}/d`, `${volume}/moved`);
    mkdirSync(`${volume}/d`);
    symlinkSync("other", `${volume}/link`);
    for (const wrong of [
      { directory: "/other" },
      { path: `${volume}/moved` },
      { path: `${volume}/link`, directory: "/link" },
    ]) {
      expect(() => give({ ...inside, ...wrong }), JSON.stringify(wrong)).to.throw(
        /not the file or directory that was checked|ENOTDIR/,
      );
    }
    expect([of(`${volume}/other`), of(`${volume}/d`)]).to.deep.equal(["0 755", "0 755"]);
  });

  it("that nobody writes to may be read by the group", () => {
    mkdirSync(`${volume}/d`, { mode: 0o700 });
    writeFileSync(`${volume}/d/f`, "", { mode: 0o500 });
    give({ readOnly: true });
    expect(["/d", "/d/f"].map((path) => of(volume + path))).to.deep.equal(["2000 2750", "2000 540"]);
    expect(give({ readOnly: true, policy: "OnRootMismatch" }).entries).to.equal(0);
    expect(give({ policy: "OnRootMismatch" }).entries, "to be written to").to.equal(3);
  });

  it("may have any name, be linked twice, and be more than are read at once", () => {
    execFileSync("sh", ["-ec", 'f=$(printf "\\377"); : > "$f"; mkdir "d$f"; : > "d$f/$f"; seq 3000 | xargs touch'], {
      cwd: volume,
    });
    linkSync(`${volume}/1`, `${volume}/linked`);
    const { entries, failed } = give();
    expect([entries, failed]).to.deep.equal([3005, 0]);
    expect(execFileSync("find", [volume, "!", "-gid", "2000"], { encoding: "utf8" })).to.equal("");
  });

  it("stay as they are where one refuses, and the others do not", () => {
    for (const name of ["a", "b", "c"]) writeFileSync(`${volume}/${name}`, "", { mode: 0o600 });
    const disk = `${place.path}/immutable`;
    execFileSync("sh", ["-ec", `mkdir ${disk}; truncate -s 8M ${disk}.img; mkfs.ext4 -q ${disk}.img`]);
    execFileSync("mount", ["-o", "loop", `${disk}.img`, disk]);
    try {
      execFileSync("sh", ["-ec", "for f in a b c; do : > $f; done; chattr +i b"], { cwd: disk });
      const [mount] = place.mounts().filter(({ point }) => point === disk);
      const result = give({ path: disk, mountID: mount?.id ?? 0, device: mount?.device ?? "" });
      expect(result).to.deep.include({ entries: 5, failed: 1 }).and.not.to.have.property("rootFailed");
      expect(result.examples.join()).to.equal("/b: EPERM,/b: EPERM");
      expect(["a", "c", ""].map((name) => lstatSync(`${disk}/${name}`).gid)).to.deep.equal([2000, 2000, 2000]);
      execFileSync("sh", ["-ec", "chgrp 0 .; chattr +i ."], { cwd: disk });
      const again = give({ path: disk, mountID: mount?.id ?? 0, device: mount?.device ?? "" });
      expect(again).to.deep.include({ failed: 2, rootFailed: true });
    } finally {
      execFileSync("umount", [disk]);
    }
  });

  it("are changed down to a depth that open files allow, and what is deeper is told", () => {
    execFileSync("perl", ["-e", 'for (1..1000) { mkdir "d"; chdir "d"; }'], { cwd: volume });
    const { entries, failed, examples } = give();
    expect([entries, failed]).to.deep.equal([451, 1]);
    expect(examples[0]).to.match(/^(\/d)+/);
    expect(of(volume)).to.equal("2000 2775");
  });

  it("lose no other's file to somebody who swaps names meanwhile", async function () {
    this.timeout(60_000);
    mkdirSync(`${place.path}/outside/d`, { recursive: true });
    writeFileSync(`${place.path}/outside/secret`, "", { mode: 0o600 });
    writeFileSync(`${place.path}/outside/d/secret`, "", { mode: 0o600 });
    mkdirSync(`${volume}/d`);
    for (const name of ["f", "d/secret"]) writeFileSync(`${volume}/${name}`, "");
    symlinkSync(`${place.path}/outside/secret`, `${volume}/link`);
    symlinkSync(`${place.path}/outside/d`, `${volume}/to-d`);
    const outside = () => ["secret", "d", "d/secret"].map((name) => of(`${place.path}/outside/${name}`));
    const before = outside();
    await using swapper = await Swapper.start();
    for (const [a, b] of [
      ["f", "link"],
      ["d", "to-d"],
    ]) {
      swapper.swap(exchange(`${volume}/${a}`, `${volume}/${b}`, "exchange with a link"));
      for (let n = 0; n < 300; n++) give({ fsGroup: 2000 + (n % 2) });
      const { changes } = await swapper.stop();
      expect(changes).to.be.greaterThan(100);
    }
    expect(outside()).to.deep.equal(before);
  });

  it("are given in a child, which tells how far it is, and says what went wrong", async function () {
    this.timeout(60_000);
    execFileSync("sh", ["-ec", "seq 2000 | xargs touch"], { cwd: volume });
    const system = realSystem(silent);
    const runner = new ChildRunner({ timers: system.timers, command: childCommand() });
    const table = new LinuxMountTable("self", system, allTiers, () => {});
    try {
      const children: number[] = [];
      const onChild = async ({ pid }: { pid: number }) => void children.push(pid);
      const operation = { volume: "v", deadlineMs: 30_000, formatDeadlineMs: 30_000, onChild };
      const ownership = new LinuxOwnership(table, runner, operation);
      expect(await ownership.give(request(), quiet)).to.deep.equal({ entries: 2001, failed: 0, examples: [] });
      expect(children).to.have.length(1);
      expect(() => readFileSync(`/proc/${children[0]}/stat`)).to.throw("ENOENT");
      const wrong = ownership.give(request({ mountID: 1 }), quiet);
      expect(await wrong.catch((error: { reason: string }) => error.reason)).to.equal("TargetChanged");
      const orphaned = { kind: "giveToGroup", request: request({ fsGroup: 3000 }), agent: process.ppid } as const;
      expect((await runner.run(orphaned, operation)).stdout).to.include("the agent that asked for it is gone");
      expect(of(volume), "as the next one's walk finds it").to.equal("2000 2775");
    } finally {
      table.close();
    }
  });
});

describe("rightsFor and fits", () => {
  it("keep what an entry has, and add what the group needs", () => {
    expect(rightsFor(0o100755).toString(8)).to.equal("775");
    expect(rightsFor(0o104700).toString(8)).to.equal("4760");
    expect(rightsFor(0o041700).toString(8)).to.equal("3770");
  });

  it("a root fits if it has the group, the bit that hands it on, and all rights that are needed, or more", () => {
    const wanted = { fsGroup: 2000 };
    expect(fits({ mode: 0o042775, gid: 2000 }, wanted)).to.equal(true);
    expect(fits({ mode: 0o042770, gid: 2000 }, wanted)).to.equal(true);
    expect(fits({ mode: 0o042770, gid: 2001 }, wanted)).to.equal(false);
    expect(fits({ mode: 0o040770, gid: 2000 }, wanted)).to.equal(false);
    expect(fits({ mode: 0o042750, gid: 2000 }, wanted)).to.equal(false);
    expect(fits({ mode: 0o102770, gid: 2000 }, wanted)).to.equal(false);
  });
});
