import { expect } from "chai";
import { ruleChecker, type SchemaNode } from "../../../../src/api/rules/check-rules.ts";

const short = { matches: "^.{0,3}$", message: "too long" };
const text: SchemaNode = { rules: [short] } as SchemaNode;

describe("rules of a schema", () => {
  it("looks at fields that have a rule beneath them, and at no others", () => {
    const check = ruleChecker({ Named: { properties: { name: text } } }, {
      properties: { list: { items: { $ref: "#/definitions/Named" } }, free: { properties: { name: {} } } },
    } as SchemaNode);
    expect(check({ list: [{ name: "abc" }, { name: "abcd" }], free: { name: "abcd" } })).to.deep.equal([
      { path: ".list[1].name", message: "too long" },
    ]);
  });

  it("does not take a field without rules for one of those that are not named", () => {
    const check = ruleChecker({}, { properties: { free: {} }, additionalProperties: text } as SchemaNode);
    expect(check({ free: "abcd", toString: "abcd" })).to.deep.equal([{ path: "[toString]", message: "too long" }]);
  });

  it("refuses what a pattern that must not match matches", () => {
    const check = ruleChecker({}, { properties: { path: { rules: [{ matchesNot: "//|/$", message: "no" }] } } });
    expect(check({ path: "/a/b" })).to.deep.equal([]);
    expect(check({ path: "/a/" })).to.deep.equal([{ path: ".path", message: "no" }]);
  });

  it("comes to an end where definitions name each other", () => {
    const tree: SchemaNode = { properties: { text, inner: { $ref: "#/definitions/Tree" } } };
    const check = ruleChecker({ Tree: tree }, { $ref: "#/definitions/Tree" });
    expect(check({ inner: { inner: { text: "abcd" } } })).to.deep.equal([
      { path: ".inner.inner.text", message: "too long" },
    ]);
  });
});
