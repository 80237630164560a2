import { expect } from "chai";
import { VolumeError } from "../../../../../src/errors.ts";
import {
  checkProgress,
  damageOf,
  isChecked,
  judgeCheck,
  unfinishedCheck,
} from "../../../../../src/host/linux/device/file-system-check.ts";

const disk = "/dev/sdb";
const judged = (code: number, stdout = "", stderr = "") => judgeCheck(disk, { code, stdout, stderr });
const refusal = (code: number, stdout: string): VolumeError => {
  try {
    judged(code, stdout);
  } catch (error) {
    if (error instanceof VolumeError) return error;
    throw error;
  }
  throw new Error("not refused");
};

describe("e2fsck before a mount", () => {
  it("looks through ext2, ext3 and ext4 alone: the kernel replays the logs of others", () => {
    const types = ["ext2", "ext3", "ext4", "xfs", "btrfs", "ext", "ext4dev"];
    expect(types.filter(isChecked)).to.deep.equal(["ext2", "ext3", "ext4"]);
  });

  it("0 is fine; 1 and 2 are told with the device by its name, not as the child has it", () => {
    expect(judged(0, "/proc/self/fd/0: clean, 11/8192 files\n")).to.equal(undefined);
    for (const code of [1, 2, 3]) {
      const said = judged(code, "1 0 4 /proc/self/fd/0\n/proc/self/fd/0: Inode 12 FIXED.\n");
      expect(said, `code ${code}`).to.equal("e2fsck has repaired /dev/sdb: /dev/sdb: Inode 12 FIXED.");
    }
  });

  for (const code of [4, 5, 6, 12]) {
    it(`${code} is FilesystemDamaged, with the command to run`, () => {
      const { reason, message } = refusal(code, "/proc/self/fd/0: UNEXPECTED INCONSISTENCY; RUN fsck MANUALLY.");
      expect(reason).to.equal("FilesystemDamaged");
      expect(message).to.include("e2fsck -f /dev/sdb").and.not.to.include("/proc/self");
    });
  }

  it("one that is killed is told with the command to run, and may have ended nowhere; other errors are as they were", () => {
    const killed = unfinishedCheck(disk, new VolumeError("TimedOut", "uncertain", "no answer within 14400 s"));
    expect(killed).to.include({ reason: "TimedOut", errorClass: "uncertain" });
    expect(killed).to.have.property("message").that.includes("14400 s").and.includes("e2fsck -p /dev/sdb");
    const other = new Error("x");
    expect(unfinishedCheck(disk, other)).to.equal(other);
  });

  it("a disk that cannot be read is one, and not a damaged file system", () => {
    const words = "/proc/self/fd/0: Error reading block 3 (Input/output error).\n/proc/self/fd/0: RUN fsck MANUALLY.";
    expect(refusal(4, words).reason).to.equal("ReadError");
    expect(refusal(12, "Attempt to read block from filesystem resulted in short read").reason).to.equal("ReadError");
  });

  it("what it could not do at all leaves the mount to the kernel, as with kubelet, and is told", () => {
    for (const code of [8, 16, 32, 128]) {
      expect(judged(code, "", "has unsupported feature(s)"))
        .to.include("mounted unchecked")
        .and.include("unsupported");
    }
  });

  it("tells how far it is, each tenth once", () => {
    const told: string[] = [];
    const tell = checkProgress((message) => told.push(message));
    for (let step = 0; step <= 5000; step++) tell(`1 ${step} 5000 /proc/self/fd/0`);
    tell("5 0 0 /proc/self/fd/0");
    tell("/proc/self/fd/0: 3 4 5 words");
    expect(told).to.have.lengthOf(11);
    expect(told[5]).to.equal("e2fsck: pass 1, 50 %");
  });
});

describe("a mount that the kernel refuses", () => {
  const of = (fsType: string, code: string) => damageOf(disk, fsType, code, "");
  it("for what is on the disk names the command that repairs it", () => {
    expect(of("xfs", "EUCLEAN")?.message).to.include("xfs_repair /dev/sdb");
    expect(of("ext4", "EBADMSG")?.message).to.include("e2fsck -f /dev/sdb");
    expect(of("btrfs", "EUCLEAN")).to.include({ reason: "FilesystemDamaged", errorClass: "final" });
  });
  it("for the disk itself is a ReadError, and for anything else neither", () => {
    expect(of("xfs", "EIO")).to.include({ reason: "ReadError", errorClass: "transient" });
    expect(of("xfs", "ENOSPC")).to.equal(undefined);
  });
});
