import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, renameSync, unlinkSync, writeFileSync } from "node:fs";
import { expect } from "chai";
import { silent } from "../../hack/lib/silent-log.ts";
import { ChildRunner } from "../../src/host/linux/child/child-runner.ts";
import { LinuxDirectories } from "../../src/host/linux/files/linux-directories.ts";
import { loadLibc } from "../../src/host/linux/syscall/libc.ts";
import { realSystem } from "../../src/system.ts";
import { need } from "../lib/asserts/requirements.ts";
import { childCommand } from "../lib/kernel/child-command.ts";
import { type Scratch, scratch } from "./scratch.ts";

describe("the trash, filled by somebody who wants it to stay", () => {
  let place: Scratch;
  let directories: LinuxDirectories;

  before(function () {
    need(this, "root");
  });
  beforeEach(() => {
    place = scratch();
    directories = linuxDirectories();
  });
  afterEach(() => place[Symbol.dispose]());

  function linuxDirectories(): LinuxDirectories {
    const runner = new ChildRunner({ timers: realSystem(silent).timers, command: childCommand() });
    return new LinuxDirectories({ libc: loadLibc(), trash: `${place.path}/trash`, runner });
  }

  /** Makes a data directory, lets a script fill it, and throws it away. */
  async function discard(script: string): Promise<void> {
    const path = `${place.path}/data/x`;
    const id = await directories.make(path, 0o777);
    execFileSync("sh", ["-ec", script], { cwd: path });
    await directories.discard(path, id);
  }

  async function failure(): Promise<string> {
    try {
      await directories.emptyTrash();
    } catch (error) {
      return String(error);
    }
    throw new Error("expected a failure");
  }

  const trashed = () => readdirSync(`${place.path}/trash`);

  it("is emptied of directories deeper than files can be open", async () => {
    await discard(`perl -e 'for (1..3000) { mkdir "d"; chdir "d"; }'`);
    await limited(1024, () => directories.emptyTrash());
    expect(trashed()).to.deep.equal([]);
  });

  it("is emptied of names that are not UTF-8", async () => {
    await discard('f=$(printf "\\377"); : > "$f"; mkdir "d$f"; : > "d$f/$f"');
    await directories.emptyTrash();
    expect(trashed()).to.deep.equal([]);
  });

  it("is emptied of more names than are read at once, in as many directories", async () => {
    await discard("seq 20000 | xargs touch; seq 20001 35000 | xargs mkdir");
    await directories.emptyTrash();
    expect(trashed()).to.deep.equal([]);
  });

  it("what cannot be removed is named, and everything else goes", async () => {
    await discard("mkdir a b; : > a/stays; : > b/goes; : > c; chattr +i a/stays");
    const id = trashed()[0];
    const message = await failure();
    expect(message).to.contain("/stays").and.to.contain("EPERM");
    expect(execFileSync("find", [`${place.path}/trash`, "-type", "f"], { encoding: "utf8" }).trim()).to.match(/stays$/);
    execFileSync("chattr", ["-R", "-i", `${place.path}/trash`]);
    await directories.emptyTrash();
    expect(trashed(), id).to.deep.equal([]);
  });

  it("a mount in it stays with what is on it, and is named", async () => {
    await discard("mkdir m n; : > n/goes");
    const mounted = `${place.path}/trash/${trashed()[0]}/m`;
    execFileSync("mount", ["-t", "tmpfs", "other", mounted]);
    writeFileSync(`${mounted}/canary`, "");
    expect(await failure())
      .to.contain("/m")
      .and.to.contain("EBUSY");
    expect(readdirSync(mounted)).to.deep.equal(["canary"]);
    unlinkSync(`${mounted}/canary`);
  });

  it("takes the same directory again from an agent that has the same pid as the last one", async () => {
    await discard(": > a");
    const [first = ""] = trashed();
    renameSync(`${place.path}/trash/${first}`, `${place.path}/data/x`);
    mkdirSync(`${place.path}/trash/${first}/full`, { recursive: true });
    directories = linuxDirectories();
    await discard(": > b");
    expect(trashed()).to.have.length(2).and.include(first);
  });

  it("two that empty it at once come to an end", async () => {
    await discard("seq 2000 | xargs touch");
    mkdirSync(`${place.path}/trash/other`);
    await Promise.all([directories.emptyTrash(), directories.emptyTrash(), directories.emptyTrash()]);
    expect(trashed()).to.deep.equal([]);
  });
});

/** Runs with a limit on the number of open files. */
async function limited(files: number, run: () => Promise<void>): Promise<void> {
  const limit = (soft: string) => execFileSync("prlimit", ["--pid", String(process.pid), `--nofile=${soft}:`]);
  const before = execFileSync("prlimit", ["--pid", String(process.pid), "--nofile", "-o", "SOFT", "--noheadings"], {
    encoding: "utf8",
  });
  limit(String(files));
  try {
    await run();
  } finally {
    limit(before.trim());
  }
}
