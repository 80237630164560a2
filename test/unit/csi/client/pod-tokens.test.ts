import { inspect } from "node:util";
import { expect } from "chai";
import { PodTokens } from "../../../../src/csi/client/pod-tokens.ts";
import { tokenFor, tokensFor } from "../../../lib/fakes/pod-tokens.ts";

const json = tokensFor("a", { vault: "cnry-1", aws: "cnry-2" });
const read = (text: string, uid = "a") => PodTokens.read(text, uid);

describe("the tokens of a pod", () => {
  it("are given on as they came, or those that are named", () => {
    expect(read(json).reveal()).to.equal(json);
    expect(read(json).only(["aws", "other"]).reveal()).to.equal(tokensFor("a", { aws: "cnry-2" }));
    expect(read(json).lacking(["aws", "other"])).to.deep.equal(["other"]);
  });

  it("are others when one of them is", () => {
    const others = [tokensFor("a", { vault: "cnry-1" }), tokensFor("a", { vault: "cnry-1", aws: "cnry-3" }), "{}"];
    expect([json, ...others].map((text) => read(json).isSame(read(text)))).to.deep.equal([true, false, false, false]);
  });

  it("run out with the first of them", () => {
    const soon = JSON.parse(tokensFor("a", { aws: "x" }, "2026-01-01T00:00:00Z")) as object;
    const both = JSON.stringify({ ...JSON.parse(json), ...soon });
    expect(read(both).expiresAt).to.equal(Date.UTC(2026, 0));
    expect(read("{}").expiresAt).to.equal(Number.POSITIVE_INFINITY);
  });

  it("are in nothing that is printed of them", () => {
    const tokens = read(json);
    const printed = [inspect({ tokens }, { depth: null, showHidden: true }), JSON.stringify({ tokens }), `${tokens}`];
    for (const text of printed) expect(text).to.not.match(/cnry/);
  });

  for (const [what, text] of [
    ["of another pod", tokensFor("b", { vault: "cnry-1" })],
    [
      "of another pod beside its own",
      JSON.stringify({ ...JSON.parse(json), x: JSON.parse(tokensFor("b", { x: "cnry" })).x }),
    ],
    ["of no pod", JSON.stringify({ vault: { token: "cnry-opaque", expirationTimestamp: "2100-01-01T00:00:00Z" } })],
    ["no JSON", "cnry-token"],
    ["no object", JSON.stringify(["cnry"])],
    ["null", "null"],
    ["without a token", JSON.stringify({ vault: "cnry" })],
    ["without an end", JSON.stringify({ vault: { token: tokenFor("a", "cnry") } })],
    ["with no time at its end", tokensFor("a", { vault: "cnry" }, "cnry")],
  ] as const) {
    it(`are refused where they are ${what}, without a piece of them`, () => {
      expect(() => read(text))
        .to.throw(/cannot be read|not one of the pod/)
        .with.property("stack")
        .that.does.not.match(/cnry/);
    });
  }
});
