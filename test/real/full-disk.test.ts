import { execFileSync } from "node:child_process";
import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { silent } from "../../hack/lib/silent-log.ts";
import { Journal } from "../../src/agent/journal/journal.ts";
import { asIntentUID, asVolumeName, type VolumeName } from "../../src/agent/model/identities.ts";
import type { VolumeRecord } from "../../src/agent/model/volume-record.ts";
import { LinuxJournalFile } from "../../src/host/linux/files/linux-journal-file.ts";
import { prepareStateDirectories } from "../../src/host/linux/files/state-directories.ts";
import { loadLibc } from "../../src/host/linux/syscall/libc.ts";
import { tryLock } from "../../src/host/linux/syscall/lock.ts";
import { need } from "../lib/asserts/requirements.ts";

const record = (name: VolumeName): VolumeRecord => ({
  name,
  key: name,
  type: "emptyDir",
  uid: asIntentUID("u"),
  generation: 1,
  targets: [],
});

describe("the state directory, on a small tmpfs", () => {
  let directory: string;
  const modeOf = (path: string) => statSync(`${directory}/${path}`).mode & 0o777;

  before(function () {
    need(this, "root");
  });
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), "nvo-full-"));
    execFileSync("mount", ["-t", "tmpfs", "-o", "size=16m,mode=0755", "full", directory]);
  });
  afterEach(() => {
    execFileSync("umount", ["-l", directory]);
    rmSync(directory, { recursive: true });
  });

  function fill(): void {
    const chunk = Buffer.alloc(4096, 1);
    try {
      for (;;) appendFileSync(`${directory}/data`, chunk);
    } catch (error) {
      expect(error).to.include({ code: "ENOSPC" });
    }
  }

  const open = () => Journal.open(new LinuxJournalFile(`${directory}/journal`), "b", silent);

  async function leaveDamaged(): Promise<Buffer> {
    const journal = await open();
    await journal.put(record(asVolumeName("a")));
    await journal.close();
    const damaged = Buffer.from(readFileSync(`${directory}/journal`));
    damaged[20] = 0xff;
    writeFileSync(`${directory}/journal`, damaged);
    return damaged;
  }

  it("what fills the disk can be written down to be removed, on the room in reserve, also after a restart", async () => {
    const journal = await open();
    await journal.put(record(asVolumeName("a")));
    fill();
    for (let i = 0; i < 200; i++) await journal.put({ ...record(asVolumeName("a")), generation: i, revoked: true });
    expect(existsSync(`${directory}/journal.reserve`)).to.equal(false);
    await journal.close();
    const again = await open();
    expect(again.records.get(asVolumeName("a"))).to.include({ generation: 199, revoked: true });
    expect(again.damage).to.equal(undefined);
    rmSync(`${directory}/data`);
    await again.put(record(asVolumeName("b")));
    expect(statSync(`${directory}/journal.reserve`).blocks * 512, "held again").to.be.at.least(1024 * 1024);
    await again.close();
  });

  it("is opened on the room in reserve by an agent that starts on a full disk", async () => {
    await (await open()).close();
    fill();
    const journal = await open();
    await journal.put(record(asVolumeName("a")));
    expect(journal.epoch).to.equal(2);
    await journal.close();
  });

  it("without any room the failure names the file, and what was written before stays whole", async () => {
    const journal = await open();
    await journal.put(record(asVolumeName("a")));
    fill();
    rmSync(`${directory}/journal.reserve`);
    fill();
    let failed: unknown;
    for (let i = 0; i < 100 && failed === undefined; i++) {
      await journal.put({ ...record(asVolumeName("b")), key: "k".repeat(500) }).catch((error: unknown) => {
        failed = error;
      });
    }
    expect(failed).to.include({ reason: "JournalFailed" });
    expect(failed).to.have.property("message").that.includes(`${directory}/journal`).and.includes("ENOSPC");
    await journal.close();
    rmSync(`${directory}/data`);
    const again = await open();
    expect(again.records.get(asVolumeName("a"))).to.deep.equal(record(asVolumeName("a")));
    expect(again.damage).to.equal(undefined);
    await again.close();
  });

  it("the lock is taken on a full disk", () => {
    const libc = loadLibc();
    const path = `${directory}/lock`;
    const first = tryLock(libc, path);
    if ("release" in first) first.release();
    writeFileSync(path, "");
    fill();
    const second = tryLock(libc, path);
    expect(second).to.have.property("release");
    if ("release" in second) second.release();
  });

  it("a damaged journal is kept byte by byte beside it, once for each different one", async () => {
    const keep = async () => {
      const journal = await open();
      await journal.close();
      return journal.damage;
    };
    await keep();
    const path = `${directory}/journal`;
    const damaged = Buffer.from(readFileSync(path));
    damaged[20] = 0xff;
    for (const copy of ["journal.damaged-1", "journal.damaged-1"]) {
      writeFileSync(path, damaged);
      expect(await keep()).to.deep.equal({ lines: 1, copy: `${directory}/${copy}` });
    }
    damaged[21] = 0xfe;
    writeFileSync(path, damaged);
    expect((await keep())?.copy).to.equal(`${directory}/journal.damaged-1.2`);
    expect(readFileSync(`${directory}/journal.damaged-1.2`).equals(damaged)).to.equal(true);
  });

  it("a damaged journal is kept and opened on the room in reserve", async () => {
    await leaveDamaged();
    fill();
    const journal = await open();
    expect(journal.damage?.copy).to.equal(`${directory}/journal.damaged-1`);
    await journal.close();
  });

  it("a damaged journal that there is no room to keep is not opened, and leaves nothing behind", async () => {
    const damaged = await leaveDamaged();
    fill();
    rmSync(`${directory}/journal.reserve`);
    fill();
    for (let i = 0; i < 3; i++) {
      const error = await open().catch((thrown: unknown) => thrown);
      expect(error).to.include({ reason: "JournalFailed" });
    }
    expect(readdirSync(directory).sort()).to.deep.equal(["data", "journal"]);
    expect(readFileSync(`${directory}/journal`).equals(damaged)).to.equal(true);
  });

  it("a reserve that can be neither taken nor removed fails no write that has room", async () => {
    mkdirSync(`${directory}/journal.reserve`);
    const journal = await open();
    await journal.put(record(asVolumeName("a")));
    expect(journal.records.has(asVolumeName("a"))).to.equal(true);
    await journal.close();
  });

  it("what volumes show before they are mounted is closed to other users, also what is there already", () => {
    mkdirSync(`${directory}/staging`);
    chmodSync(`${directory}/staging`, 0o755);
    prepareStateDirectories(loadLibc(), directory);
    expect(["staging", "data", "trash"].map(modeOf)).to.deep.equal([0o700, 0o700, 0o700]);
    expect(modeOf("."), "a prefix may lie beneath it").to.equal(0o755);
    const asNobody = { uid: 65534, gid: 65534, stdio: "pipe" } as const;
    expect(() => execFileSync("ls", [`${directory}/staging`], asNobody)).to.throw("Permission denied");
  });
});
