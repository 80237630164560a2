import { expect } from "chai";
import { refusedCode } from "../../../../../src/host/linux/child/child-protocol.ts";
import { notDisconnected } from "../../../../../src/host/linux/rbd/linux-nbd.ts";

describe("a device that rbd-nbd is to disconnect", () => {
  const left = (code: number, { stdout = "", stderr = "" } = {}) =>
    notDisconnected("/dev/nbd0", { code, stdout, stderr });
  const refused = (error: object) => left(refusedCode, { stdout: `${JSON.stringify({ ok: false, error })}\n` });

  it("is gone if rbd-nbd says so, or if its number is another's by now", () => {
    expect(left(0)).to.equal(undefined);
    expect(refused({ reason: "DeviceBusy", errorClass: "transient", message: "not of k any more" })).to.equal(
      undefined,
    );
  });

  it("is there still if it could not be looked at, or rbd-nbd failed", () => {
    const cannotLook = "/dev/nbd0 was not taken away: EIO: i/o error, read";
    const error = { message: "EIO: i/o error, read", code: "EIO" };
    expect(refused(error)).to.include({ reason: "DeviceBusy", errorClass: "transient", message: cannotLook });
    const words = "/dev/nbd0 was not taken away: rbd-nbd: failed";
    expect(left(1, { stderr: "rbd-nbd: failed\n" })?.message).to.equal(words);
    expect(left(refusedCode)?.message).to.equal("/dev/nbd0 was not taken away: rbd-nbd ended with 75");
  });
});
