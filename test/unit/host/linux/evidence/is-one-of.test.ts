import { expect } from "chai";
import { isOneOf } from "../../../../../src/host/linux/evidence/open-devices.ts";

describe("an open file that is one of the devices", () => {
  for (const [what, file, is] of [
    ["the block device, for writing", { kind: "blockDevice", deviceNumber: "8:0", writable: true }, true],
    ["the block device, for reading", { kind: "blockDevice", deviceNumber: "8:0", writable: false }, true],
    ["its node for commands, for writing", { kind: "charDevice", deviceNumber: "21:0", writable: true }, true],
    ["its node for commands, for reading: no", { kind: "charDevice", deviceNumber: "21:0", writable: false }, false],
    ["another device: no", { kind: "blockDevice", deviceNumber: "21:0", writable: true }, false],
    ["a file: no", { kind: "file", deviceNumber: "8:0", writable: true }, false],
  ] as const) {
    it(what, () => expect(isOneOf(file, ["8:0"], ["21:0"])).to.equal(is));
  }
});
