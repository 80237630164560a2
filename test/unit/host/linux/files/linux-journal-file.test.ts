import { constants, mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { LinuxJournalFile } from "../../../../../src/host/linux/files/linux-journal-file.ts";

describe("LinuxJournalFile", () => {
  let directory: string;

  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), "nvo-journal-"));
  });
  afterEach(() => rmSync(directory, { recursive: true }));

  /** The flags that a file of ours is open with, proc_pid_fdinfo(5). */
  function flagsOf(path: string): number {
    const fd = readdirSync("/proc/self/fd").find((each) => linkOf(`/proc/self/fd/${each}`) === path);
    const [, flags] = /^flags:\s+(\d+)$/m.exec(readFileSync(`/proc/self/fdinfo/${fd}`, "latin1")) ?? [];
    return Number.parseInt(flags ?? "", 8);
  }

  it("append ends when what it wrote is on the disk, and follows what is there", async () => {
    const path = join(directory, "journal");
    const file = new LinuxJournalFile(path);
    await file.append("one\n");
    await file.append("two\n");
    expect(readFileSync(path, "utf8")).to.equal("one\ntwo\n");
    const flags = flagsOf(path);
    expect(flags & constants.O_DSYNC).to.equal(constants.O_DSYNC);
    expect(flags & constants.O_APPEND).to.equal(constants.O_APPEND);
    await file.replace("three\n");
    await file.append("four\n");
    expect(await file.read()).to.equal("three\nfour\n");
    await file.close();
  });
});

/** Undefined for what is closed by the time it is looked at. */
function linkOf(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}
