import { expect } from "chai";
import { retryMs } from "../../../../src/csi/client/retry.ts";
import { NameClaims } from "../../../../src/csi/registry/name-claims.ts";

describe("names of drivers", () => {
  it("are each had by the first that asks, who may ask again", () => {
    const claims = new NameClaims<string>();
    expect([claims.take("n", "a"), claims.take("n", "b"), claims.take("n", "a")]).to.deep.equal([
      undefined,
      "a",
      undefined,
    ]);
    expect([claims.holds("n", "a"), claims.holds("n", "b")]).to.deep.equal([true, false]);
  });

  it("are told to those that were refused, once they are given back", () => {
    const claims = new NameClaims<string>();
    claims.take("n", "a");
    claims.take("m", "a");
    claims.take("n", "b");
    claims.take("n", "c");
    claims.take("m", "d");
    claims.forget("c");
    expect([...claims.freed()]).to.deep.equal([]);
    claims.keepOnly("a", "m");
    expect([...claims.freed()]).to.deep.equal(["b"]);
    expect([...claims.freed()]).to.deep.equal([]);
    expect([claims.take("n", "b"), claims.take("m", "b")]).to.deep.equal([undefined, "a"]);
    claims.forget("a");
    expect([...claims.freed()]).to.deep.equal(["d", "b"]);
  });
});

describe("retryMs", () => {
  const at = (next: number) => ({ next: () => next, uuid: () => "" });
  it("doubles from 100 ms to 2 minutes, and is at least half of that", () => {
    expect([1, 2, 3, 11, 12, 40].map((failures) => retryMs(failures, at(0)))).to.deep.equal([
      100, 200, 400, 102_400, 120_000, 120_000,
    ]);
    expect(retryMs(1, at(0.999_999))).to.equal(51);
  });
});
