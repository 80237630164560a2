import { expect } from "chai";
import { copyJson } from "../../../src/api/copy-json.ts";

describe("copyJson", () => {
  it("copies every member, and shares none of them", () => {
    const value = { text: "a", list: [{ deep: [1, null, true] }], none: {}, missing: undefined };
    const copy = copyJson(value);
    expect(copy).to.deep.equal(value);
    expect(copy.list[0]).not.to.equal(value.list[0]);
    expect(copy.none).not.to.equal(value.none);
  });

  it("copies a member of the name __proto__ as one, and leaves the prototype alone", () => {
    const copy = copyJson(JSON.parse('{"__proto__": {"polluted": true}}') as { polluted?: boolean });
    expect(Object.hasOwn(copy, "__proto__")).to.equal(true);
    expect(copy.polluted).to.equal(undefined);
    expect(JSON.stringify(copy)).to.equal('{"__proto__":{"polluted":true}}');
  });
});
