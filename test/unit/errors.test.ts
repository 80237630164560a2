import { expect } from "chai";
import { boundedError, VolumeError } from "../../src/errors.ts";

describe("bounded", () => {
  const on = { kind: "Program", name: "/p" };

  it("leaves an error with a short message as it is", () => {
    const error = new VolumeError("DriverFailed", "transient", "x".repeat(1024));
    expect(boundedError(error)).to.equal(error);
  });

  it("keeps both ends of a long message, and all else", () => {
    const error = new VolumeError("DriverFailed", "uncertain", `begin${"x".repeat(5000)}end`, { on, heldBy: [7] });
    const { message, reason, errorClass, on: kept, heldBy } = boundedError(error);
    expect({ reason, errorClass, on: kept, heldBy }).to.deep.equal({
      ...{ reason: "DriverFailed", errorClass: "uncertain", on, heldBy: [7] },
    });
    expect(message).to.have.lengthOf(1024);
    expect(message).to.match(/^beginx+…x+end$/);
  });
});
