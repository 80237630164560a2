import { expect } from "chai";
import { listed } from "../../../../src/api/values/listed.ts";

describe("listed", () => {
  const all = ["a", "b", "c", "d"];

  for (const [text, most, isAll, separator] of [
    ["a, b, c, d", 4],
    ["a, b, c and 1 more", 3],
    ["a, b and at least 2 more", 2, false],
    ["a, b, c, d", 5, false],
    ["a; b; c and 1 more", 3, true, "; "],
  ] as const) {
    it(`says ${text}`, () => {
      expect(listed(all, most, isAll, separator)).to.equal(text);
    });
  }
});
