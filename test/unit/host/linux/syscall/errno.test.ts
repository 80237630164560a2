import { expect } from "chai";
import { Errno, errnoOf } from "../../../../../src/host/linux/syscall/errno.ts";

describe("Errno", () => {
  const names: readonly (readonly [number, string])[] = [
    [2, "ENOENT"],
    [11, "EAGAIN"],
    [95, "ENOTSUP"],
    [107, "ENOTCONN"],
    [116, "ESTALE"],
    [117, "EUCLEAN"],
    [123, "ENOMEDIUM"],
    [4000, "errno 4000"],
  ];
  for (const [errno, name] of names) {
    it(`names ${errno} ${name}`, () => {
      expect(new Errno("open", errno)).to.include({ code: name, message: `open: ${name}` });
    });
  }

  it("errnoOf names what node:fs threw, also where libuv has no name for it", () => {
    const stale = Object.assign(new Error("?"), { code: "Unknown system error -116", errno: -116 });
    expect(errnoOf(stale)).to.equal("ESTALE");
    expect(errnoOf(Object.assign(new Error("?"), { code: "ENOENT", errno: -2 }))).to.equal("ENOENT");
    expect(errnoOf(new Error("?"))).to.equal(undefined);
    expect(errnoOf("ENOENT")).to.equal(undefined);
  });
});
