import { statSync } from "node:fs";
import { expect } from "chai";
import { deviceNumberOf } from "../../../../../src/host/linux/syscall/block-device.ts";

describe("deviceNumberOf", () => {
  it("takes a number of stat(2) apart as glibc puts it together", () => {
    // gnu_dev_makedev: minor 0-7, major 8-19, minor 20-31
    const rows = { "8:1": 0x801, "259:0": 0x10300, "253:256": 0x10fd00, "4095:255": 0xfffff, "8:1048575": 0xfff008ff };
    for (const [number, rdev] of Object.entries(rows)) expect(deviceNumberOf({ rdev }), `${rdev}`).to.equal(number);
  });

  it("is what the kernel says of /dev/null", () => {
    expect(deviceNumberOf(statSync("/dev/null"))).to.equal("1:3");
  });
});
