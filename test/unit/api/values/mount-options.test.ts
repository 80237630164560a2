import { expect } from "chai";
import { canonicalOptions } from "../../../../src/api/values/mount-options.ts";

describe("canonicalOptions", () => {
  it("is one for all orders, and the last one of an option named twice", () => {
    expect(canonicalOptions(["timeo=600", "hard"])).to.deep.equal(canonicalOptions(["hard", "timeo=600"]));
    expect(canonicalOptions(["timeo=1", "hard", "timeo=2"])).to.deep.equal(["hard", "timeo=2"]);
    expect(canonicalOptions([])).to.deep.equal([]);
  });

  it("keeps what actimeo means: it overrides what is before it, and is overridden by what is after it", () => {
    expect(canonicalOptions(["acregmin=3", "actimeo=600", "hard"])).to.deep.equal(["actimeo=600", "hard"]);
    expect(canonicalOptions(["hard", "actimeo=600", "acregmin=3"])).to.deep.equal([
      "actimeo=600",
      "acregmin=3",
      "hard",
    ]);
  });
});
