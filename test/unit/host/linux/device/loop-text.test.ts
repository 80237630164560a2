import { expect } from "chai";
import { loopText } from "../../../../../src/host/linux/device/device-users.ts";

describe("the message of a device that loop devices are made of", () => {
  it("says whose they may be, and what to do", () => {
    expect(loopText("/dev/sdb", ["loop5", "loop6"])).to.equal(
      "/dev/sdb is what loop5, loop6 is made of: end the pod that has it as a raw volume (kubelet makes a loop device on each), or detach what nobody uses: losetup --detach /dev/loop5",
    );
  });
});
