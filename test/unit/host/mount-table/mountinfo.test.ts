import { expect } from "chai";
import { parseMountinfo } from "../../../../src/host/mount-table/mountinfo.ts";

describe("parseMountinfo", () => {
  it("reads every field of a line", () => {
    const text = "36 35 98:0 /mnt1 /mnt2 rw,noatime shared:7 master:2 - ext3 /dev/root rw,errors=continue\n";
    expect(parseMountinfo(text)).to.deep.equal([
      {
        id: 36,
        parent: 35,
        device: "98:0",
        root: "/mnt1",
        point: "/mnt2",
        options: ["rw", "noatime"],
        shared: 7,
        master: 2,
        fsType: "ext3",
        source: "/dev/root",
        superOptions: ["rw", "errors=continue"],
      },
    ]);
  });

  it("decodes what the kernel escapes, and leaves other characters as they are", () => {
    const [mount] = parseMountinfo(String.raw`1 1 0:1 / /a\040b\011c\134d\043é rw - fuse.x s\040p rw`);
    expect(mount?.point).to.equal("/a b\tc\\d#é");
    expect(mount?.source).to.equal("s p");
  });

  it("reads a line without optional fields, a private mount", () => {
    const [mount] = parseMountinfo("22 27 0:21 / /proc rw,relatime - proc proc rw");
    expect(mount?.shared).to.equal(undefined);
    expect(mount?.fsType).to.equal("proc");
  });

  it("takes an empty source and a dash among the names for what they are", () => {
    const [mount] = parseMountinfo("22 27 0:21 /- /- rw shared:1 - tmpfs  rw\n");
    expect(mount).to.include({ root: "/-", point: "/-", source: "", fsType: "tmpfs" });
  });

  for (const line of [
    "x2 27 0:21 / /proc rw - proc proc rw",
    "22 27 / /proc rw relatime - proc proc rw",
    "22 27:5 /root /mnt rw shared:1 - tmpfs none rw",
    "22 27 0:21 / proc rw - proc proc rw",
    " 27 0:21 / /proc rw - proc proc rw",
  ]) {
    it(`refuses ${JSON.stringify(line)}, whose fields are not where they belong`, () => {
      expect(() => parseMountinfo(`${line}\n`)).to.throw("mountinfo line not understood");
    });
  }

  it("refuses a table with a line that it does not understand: half a table is worse than none", () => {
    expect(() => parseMountinfo("22 27 0:21 / /proc rw - proc proc rw\nnonsense\n")).to.throw("nonsense");
  });
});
