import { expect } from "chai";
import { callFilter } from "../../../../../src/host/linux/child/call-filter.ts";
import { confinements } from "../../../../../src/host/linux/child/start-confined.ts";

describe("confinements", () => {
  it("have the whole filter, as what is fetched is parsed beneath it and no other", () => {
    const { checkOut, unpack } = confinements;
    const image = callFilter("x64", { alone: process.pid });
    expect(callFilter("x64", unpack.filtered).equals(image)).to.equal(true);
    expect(checkOut.filtered).to.not.have.property("refused");
  });
});
