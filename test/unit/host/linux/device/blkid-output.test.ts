import { expect } from "chai";
import { parseBlkid } from "../../../../../src/host/linux/device/blkid-output.ts";

const uuid = "8c9a393e-27c8-4466-a068-6666028d348d";

describe("parseBlkid", () => {
  const cases: readonly [what: string, label: string, text: string][] = [
    ["a plain label", "data", "data"],
    ["a space and a quote", "my\\x20d\\x22", 'my d"'],
    ["letters beyond ASCII, which it leaves as they are", "été\\x20日", "été 日"],
    ["a backslash before what looks like an escape", "a\\x5cx20b", "a\\x20b"],
    ["control characters", "a\\x01\\x09b", "a\x01\tb"],
    ["a byte that is no UTF-8", "a\\xffb", "a\ufffdb"],
  ];
  for (const [what, label, text] of cases)
    it(`reads ${what}`, () => {
      // util-linux 2.38: blkid -p -o udev. ID_FS_LABEL has _ for what it does not show.
      const output = `ID_FS_LABEL=a_b\nID_FS_LABEL_ENC=${label}\nID_FS_UUID=${uuid}\nID_FS_UUID_ENC=${uuid}\nID_FS_VERSION=1.0\nID_FS_TYPE=ext4\nID_FS_USAGE=filesystem\n`;
      expect(parseBlkid(output)).to.deep.equal({ type: "ext4", uuid, label: text });
    });

  it("knows of a device without a file system nothing", () => {
    expect(parseBlkid("")).to.deep.equal({});
    expect(parseBlkid("ID_FS_AMBIVALENT=filesystem:ext4:1.0 other:swap:1\n")).to.deep.equal({});
    expect(parseBlkid("ID_PART_TABLE_TYPE=gpt\n")).to.deep.equal({ type: "gpt" });
  });
});
