import { expect } from "chai";
import { nameOfWWID, namesOfPage } from "../../../../../src/host/linux/scsi/scsi-names.ts";

/** Page 0x83 in the manner of Linux's LIO target: NAA, T10's name, the port's number, and a name of the target. */
const lio = [
  "0083003c",
  "01030010" + "60014051" + "23456789" + "00000000" + "00000000",
  `02010010${Buffer.from("LIO-ORG disk-a  ").toString("hex")}`,
  "6194000400000001",
  "53a80004" + "6e61612e", // of the target, not of the LUN
].join("");

describe("names of a LUN", () => {
  it("are those of the LUN itself, in udev's words", () => {
    expect(namesOfPage(Buffer.from(lio, "hex"))).to.deep.equal([
      "360014051234567890000000000000000",
      "1LIO-ORG_disk-a",
    ]);
  });

  it("end where the page does not keep to the format", () => {
    const cut = Buffer.from(lio, "hex").subarray(0, 30);
    expect(namesOfPage(cut)).to.deep.equal(["360014051234567890000000000000000"]);
    expect(namesOfPage(Buffer.from([0, 0x83]))).to.deep.equal([]);
    expect(namesOfPage(new Uint8Array(0))).to.deep.equal([]);
  });

  it("leaves out a name of nothing but zeros, which all disks of an adapter have", () => {
    expect(namesOfPage(Buffer.from("0083000c0103000800000000", "hex"))).to.deep.equal([]);
    expect(namesOfPage(Buffer.from("0083000c010300080000000000000000", "hex"))).to.deep.equal([]);
  });

  it("of the kernel have another prefix", () => {
    expect(nameOfWWID("naa.33333330000007d0")).to.equal("333333330000007d0");
    expect(nameOfWWID("eui.0025385b71b0")).to.equal("20025385b71b0");
    expect(nameOfWWID("t10.Linux   scsi_debug      2000")).to.equal("1Linux_scsi_debug_2000");
    expect(nameOfWWID("")).to.equal(undefined);
    expect(nameOfWWID("uuid.1234")).to.equal(undefined);
  });
});
