import { execFileSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  statSync,
  symlinkSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { expect } from "chai";
import { silent } from "../../hack/lib/silent-log.ts";
import { ChildRunner } from "../../src/host/linux/child/child-runner.ts";
import { LinuxDirectories } from "../../src/host/linux/files/linux-directories.ts";
import { Descriptor } from "../../src/host/linux/syscall/descriptor.ts";
import { loadLibc } from "../../src/host/linux/syscall/libc.ts";
import type { PayloadFile } from "../../src/host/ports/host-ports.ts";
import { realSystem } from "../../src/system.ts";
import { childCommand } from "../lib/kernel/child-command.ts";
import { type Scratch, scratch } from "./scratch.ts";

describe("LinuxDirectories", () => {
  let place: Scratch;
  let directories: LinuxDirectories;

  beforeEach(() => {
    place = scratch();
    const runner = new ChildRunner({ timers: realSystem(silent).timers, command: childCommand() });
    directories = new LinuxDirectories({ libc: loadLibc(), trash: `${place.path}/trash`, runner });
  });
  afterEach(() => place[Symbol.dispose]());

  const file = (path: string, content: string, mode = 0o644): PayloadFile => ({
    path,
    content: Buffer.from(content),
    mode,
  });

  it("empties a file that is too large, and no other; who appends to it goes on", async () => {
    const [log, link, elsewhere] = [`${place.path}/log`, `${place.path}/link`, `${place.path}/elsewhere`];
    using appending = new Descriptor(openSync(log, "a"));
    writeSync(appending.fd, "four");
    await directories.emptyIfLarger(log, 4);
    expect(readFileSync(log, "utf8")).to.equal("four");
    await directories.emptyIfLarger(log, 3);
    writeSync(appending.fd, "more");
    expect(readFileSync(log, "utf8")).to.equal("more");
    await directories.emptyIfLarger(`${place.path}/none`, 0);
    await directories.emptyIfLarger(`${place.path}/none/none`, 0);
    writeFileSync(elsewhere, "another's");
    symlinkSync(elsewhere, link);
    const error = await directories.emptyIfLarger(link, 0).then(
      () => undefined,
      (thrown: Error) => thrown,
    );
    expect(error).to.be.an("error");
    expect(readFileSync(elsewhere, "utf8")).to.equal("another's");
  });

  describe("writePayload", () => {
    let dir: string;
    const visible = () => readdirSync(dir).filter((name) => !name.startsWith(".."));

    beforeEach(() => {
      dir = `${place.path}/payload`;
      mkdirSync(dir);
    });

    it("shows the files with their modes, through one link that is swapped", async () => {
      expect(await directories.writePayload(dir, [file("a", "1", 0o400), file("d/b", "2")])).to.equal(true);
      expect(visible().sort()).to.deep.equal(["a", "d"]);
      expect(readFileSync(`${dir}/d/b`, "utf8")).to.equal("2");
      expect(statSync(`${dir}/a`).mode & 0o777).to.equal(0o400);
      expect(readlinkSync(`${dir}/a`)).to.equal("..data/a");
    });

    it("does not write equal content again, but does for another mode or a missing file", async () => {
      await directories.writePayload(dir, [file("a", "1")]);
      const before = readlinkSync(`${dir}/..data`);
      expect(await directories.writePayload(dir, [file("a", "1")])).to.equal(false);
      expect(readlinkSync(`${dir}/..data`)).to.equal(before);
      expect(await directories.writePayload(dir, [file("a", "1", 0o600)])).to.equal(true);
      expect(await directories.writePayload(dir, [])).to.equal(true);
      expect(visible()).to.deep.equal([]);
    });

    it("looks each name up a few times, however many there are", async () => {
      let asked = 0;
      const files = Array.from({ length: 300 }, (_, i) => ({
        ...file(`k${i}`, ""),
        get path() {
          asked += 1;
          return `k${i}`;
        },
      }));
      await directories.writePayload(dir, files);
      asked = 0;
      expect(await directories.writePayload(dir, files), "nothing has changed").to.equal(false);
      expect(asked).to.be.within(1, 10 * files.length);
    });

    it("a reader that holds the old payload's path sees all old or all new, never a mix", async () => {
      await directories.writePayload(dir, [file("a", "old"), file("b", "old")]);
      await directories.writePayload(dir, [file("a", "new"), file("b", "new")]);
      expect([readFileSync(`${dir}/a`, "utf8"), readFileSync(`${dir}/b`, "utf8")]).to.deep.equal(["new", "new"]);
      expect(readdirSync(dir).filter((name) => name.startsWith("..payload-"))).to.have.length(1);
    });

    it("removes nothing of what is mounted beneath, and says so", async () => {
      await directories.writePayload(dir, [file("a", "1")]);
      mkdirSync(`${dir}/foreign`);
      mkdirSync(`${place.path}/disk/d`, { recursive: true });
      writeFileSync(`${place.path}/disk/d/precious`, "");
      execFileSync("mount", ["--bind", `${place.path}/disk`, `${dir}/foreign`]);
      await directories.writePayload(dir, [file("a", "2")]).then(
        () => expect.fail("nothing was said"),
        () => {},
      );
      expect(existsSync(`${place.path}/disk/d/precious`)).to.equal(true);
      expect(readFileSync(`${dir}/a`, "utf8")).to.equal("2");
    });

    it("cleans up after a call that was cut off at any point", async () => {
      await directories.writePayload(dir, [file("a", "1"), file("gone", "1")]);
      mkdirSync(`${dir}/..payload-dead00`);
      writeFileSync(`${dir}/..payload-dead00/a`, "half");
      symlinkSync("..payload-dead00", `${dir}/..data_tmp`);
      await directories.writePayload(dir, [file("a", "2")]);
      expect(visible()).to.deep.equal(["a"]);
      expect(readdirSync(dir).filter((name) => name.startsWith(".."))).to.have.length(2);
      expect(readFileSync(`${dir}/a`, "utf8")).to.equal("2");
    });

    it("removes what a call that was cut off has left, whatever bytes its names are", async () => {
      const bytes = (...parts: string[]) => Buffer.from([`${dir}/..payload-dead00`, ...parts].join("/"), "latin1");
      mkdirSync(bytes("caf\xe9", "\xff\xfe", "\xe9"), { recursive: true });
      mkdirSync(bytes("..deep.0"));
      writeFileSync(bytes("caf\xe9", "f\xe9"), "");
      writeFileSync(bytes("\xe9"), "");
      await directories.writePayload(dir, [file("a", "1")]);
      expect(readdirSync(dir).sort()).to.deep.equal(["..data", readlinkSync(`${dir}/..data`), "a"].sort());
    });

    describe("on a file system that is nearly full", () => {
      const KiB = 1024;
      const large = (path: string, kib: number) => file(path, "x".repeat(kib * KiB));
      const refused = (kib: number) =>
        directories.writePayload(dir, [large("a", kib)]).then(
          () => "written",
          (error: Error & { code?: string }) => error.code,
        );

      beforeEach(() => {
        execFileSync("mount", ["-t", "tmpfs", "-o", "size=1m", "small", dir]);
      });

      it("what finds no room takes away what it has written, and shows what was shown", async () => {
        await directories.writePayload(dir, [large("a", 100)]);
        const shown = readlinkSync(`${dir}/..data`);
        for (let i = 0; i < 3; i++) expect(await refused(950)).to.equal("ENOSPC");
        expect(readdirSync(dir).sort()).to.deep.equal(["..data", shown, "a"].sort());
        expect(statSync(`${dir}/a`).size).to.equal(100 * KiB);
        expect(await refused(800), "what has room").to.equal("written");
      });

      it("what a call that was cut off has left makes room before more is written", async () => {
        await directories.writePayload(dir, [large("a", 100)]);
        mkdirSync(`${dir}/..payload-dead00`);
        writeFileSync(`${dir}/..payload-dead00/a`, "x".repeat(700 * KiB));
        expect(await refused(600)).to.equal("written");
      });
    });
  });

  it("make gives the mode whatever the umask, and the same identity again", async () => {
    const before = process.umask(0o077);
    const id = await directories.make(`${place.path}/data/x`, 0o777);
    process.umask(before);
    expect(statSync(`${place.path}/data/x`).mode & 0o777).to.equal(0o777);
    expect(await directories.make(`${place.path}/data/x`, 0o777)).to.deep.equal(id);
    expect(await directories.identify(`${place.path}/data/y`)).to.equal(undefined);
  });

  it("discard and emptyTrash remove what is beneath, follow no link, and cross into no other file system", async () => {
    mkdirSync(`${place.path}/outside/keep`, { recursive: true });
    writeFileSync(`${place.path}/outside/canary`, "alive");
    const id = await directories.make(`${place.path}/data/x`, 0o777);
    for (let i = 0; i < 600; i++) writeFileSync(`${place.path}/data/x/f${i}`, "");
    mkdirSync(`${place.path}/data/x/deep/er`, { recursive: true });
    symlinkSync(`${place.path}/outside`, `${place.path}/data/x/link`);
    symlinkSync(`${place.path}/outside`, `${place.path}/data/x/deep/link`);
    await directories.discard(`${place.path}/data/x`, id);
    expect(existsSync(`${place.path}/data/x`)).to.equal(false);
    const trashed = readdirSync(`${place.path}/trash`);
    expect(trashed).to.have.length(1);
    mkdirSync(`${place.path}/trash/${trashed[0]}/mounted`);
    execFileSync("mount", ["-t", "tmpfs", "other", `${place.path}/trash/${trashed[0]}/mounted`]);
    writeFileSync(`${place.path}/trash/${trashed[0]}/mounted/canary`, "alive");
    const left = await directories.emptyTrash().catch((error: unknown) => error);
    expect(String(left)).to.contain("mounted: EBUSY");
    expect(readdirSync(`${place.path}/trash/${trashed[0]}`)).to.deep.equal(["mounted"]);
    expect(readdirSync(`${place.path}/trash/${trashed[0]}/mounted`)).to.deep.equal(["canary"]);
    expect(readdirSync(`${place.path}/outside`).sort()).to.deep.equal(["canary", "keep"]);
    execFileSync("umount", [`${place.path}/trash/${trashed[0]}/mounted`]);
    await directories.emptyTrash();
    expect(readdirSync(`${place.path}/trash`)).to.deep.equal([]);
  });

  for (const [what, make] of [
    ["a file", (path: string) => writeFileSync(path, "")],
    ["a link", (path: string) => symlinkSync("/nowhere", path)],
  ] as const)
    it(`discard throws away ${what} as well`, async () => {
      await directories.make(`${place.path}/data`, 0o700);
      make(`${place.path}/data/x`);
      const id = await directories.identify(`${place.path}/data/x`);
      if (id === undefined) throw new Error("it is there");
      await directories.discard(`${place.path}/data/x`, id);
      expect(readdirSync(`${place.path}/data`)).to.deep.equal([]);
      await directories.emptyTrash();
      expect(readdirSync(`${place.path}/trash`)).to.deep.equal([]);
    });

  it("discard leaves a directory that is not the one on record", async () => {
    const id = await directories.make(`${place.path}/data/x`, 0o777);
    await directories.discard(`${place.path}/data/x`, { ...id, inode: id.inode + 1 });
    expect(existsSync(`${place.path}/data/x`)).to.equal(true);
  });
});
