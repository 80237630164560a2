import { expect } from "chai";
import { callFilter } from "../../../../../src/host/linux/child/call-filter.ts";
import { confinements } from "../../../../../src/host/linux/child/start-confined.ts";

describe("confinements", () => {
  it("have the whole filter for an image, which is unpacked beneath it and no other", () => {
    expect(callFilter("x64", confinements.unpack.filtered).equals(callFilter("x64"))).to.equal(true);
  });
});
