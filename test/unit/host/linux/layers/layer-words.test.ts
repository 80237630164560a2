import { expect } from "chai";
import { cryptFailure, formatArgs } from "../../../../../src/host/linux/layers/cryptsetup-errors.ts";
import { lvmFailure, parseVolumes } from "../../../../../src/host/linux/layers/lvm-errors.ts";
import { mapperName } from "../../../../../src/host/ports/block-layers.ts";

// What lvm 2.03.16 and cryptsetup 2.6.1 have said on Linux 6.1.

describe("lvm", () => {
  const failed = (stderr: string, doing = "lvcreate", what = "vg/data") =>
    lvmFailure(what, doing, { code: 5, stdout: "", stderr });

  it("reports the volumes of a group", () => {
    const volume = `{"lv_name":"data-1", "lv_size":"20971520", "lv_active":"active", "lv_role":"public", "lv_tags":"a,nodevolume-b", "vg_uuid":"Ab1-c", "lv_uuid":"De2-f"}`;
    const other = `{"lv_name":"b", "lv_size":"4194304", "lv_active":"", "lv_role":"private,thin,pool", "lv_tags":""}`;
    const volumes = parseVolumes(`{"report": [{"lv": [${volume}, ${other}]}]}`);
    expect(volumes.get("data-1")).to.deep.equal({
      sizeBytes: 20971520,
      active: true,
      shown: true,
      tags: ["a", "nodevolume-b"],
      identity: "Ab1-c De2-f",
    });
    expect(volumes.get("b")).to.deep.equal({ sizeBytes: 4194304, active: false, shown: false, tags: [] });
    expect(parseVolumes(`{"report": [{"lv": []}]}`).size).to.equal(0);
  });

  it("names the group that is missing, and how to make it", () => {
    const { reason, message } = failed(`Volume group "vg" not found\n  Cannot process volume group vg`, "lvs", "vg");
    expect([reason, message.includes("vgcreate vg DEVICE")]).to.deep.equal(["SourceNotFound", true]);
  });

  for (const words of [
    `Volume group "vg" has insufficient free space (15 extents): 25 required.`,
    "Insufficient free space: 86 extents needed, but only 5 available",
  ]) {
    it(`has no room: ${words.slice(0, 30)}`, () => {
      expect(failed(words)).to.include({ reason: "VolumeGroupFull", errorClass: "final" });
    });
  }

  it("says what is in use, and what it could not do otherwise", () => {
    expect(failed("Logical volume vg/data in use.", "deactivate").reason).to.equal("DeviceBusy");
    expect(failed("something else", "deactivate").reason).to.equal("TearDownFailed");
    expect(failed("something else").reason).to.equal("SetUpFailed");
  });

  it("doubles hyphens in the names of its devices", () => {
    const name = mapperName({ volumeGroup: "nvo-test_1.1", logicalVolume: "data-1" });
    expect(name).to.equal("nvo--test_1.1-data--1");
  });
});

describe("cryptsetup", () => {
  const failed = (code: number, stderr: string, command = "open") =>
    cryptFailure("/dev/sdb", command, { code, stdout: "", stderr });

  it("2 is the passphrase: tried again when the Secret changes, and not before", () => {
    const error = failed(2, "No key available with this passphrase.\n");
    expect(error).to.include({ reason: "PassphraseRefused", errorClass: "final" });
    expect(error.message).to.include("luksAddKey").and.include("/dev/sdb");
  });

  it("3 is memory, 5 somebody who uses it, in the last of its many words", () => {
    expect(failed(3, "Not enough memory").message).to.include("luksConvertKey --pbkdf-memory 65536");
    const stays = failed(3, "stays in the container: EROFS: mkdir\nNot enough available memory to open a keyslot.\n");
    expect(stays.message)
      .to.include("128 MiB")
      .and.include("(EROFS: mkdir)")
      .and.include("(Not enough available memory");
    const busy = failed(5, `${"device-mapper: remove ioctl failed\n".repeat(25)}Device x is still in use.\n`, "close");
    expect(busy).to.include({ reason: "DeviceBusy", message: "/dev/sdb is in use: Device x is still in use." });
  });

  it("any other end is a failure of what was done", () => {
    const reasons = ["luksFormat", "open", "close"].map((command) => failed(1, "x", command).reason);
    expect(reasons).to.deep.equal(["FormatFailed", "SetUpFailed", "TearDownFailed"]);
  });

  it("gets no passphrase as an argument, and bounds the memory that an opening takes", () => {
    const args = formatArgs("01234567-89ab-cdef-0123-456789abcdef").join(" ");
    expect(args).to.include("--key-file -").and.include("--pbkdf-memory 65536").and.include("--type luks2");
  });
});
