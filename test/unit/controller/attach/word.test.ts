import { expect } from "chai";
import { attachPatch, bounded } from "../../../../src/controller/attach/word.ts";

const on = { kind: "Node", name: "n0" };
const word = { reason: "AttachFailed", message: "m", on } as const;
const said = { reason: "AttachFailed", message: "m", on, since: "before" };

describe("attachPatch", () => {
  it("says a word, and not twice", () => {
    expect(attachPatch(undefined, word, "va", "now")).to.deep.equal({
      attach: { ...word, since: "now", volumeAttachment: "va" },
    });
    expect(attachPatch(said, word, undefined, "now")).to.equal(undefined);
  });
  it("keeps since while reason and object stay", () => {
    expect(attachPatch(said, { ...word, message: "other" }, undefined, "now")).to.deep.equal({
      attach: { message: "other" },
    });
    const other = { ...word, on: { kind: "Node", name: "n1" } };
    expect(attachPatch(said, other, undefined, "now")).to.deep.equal({ attach: { on: { name: "n1" }, since: "now" } });
  });
  it("takes it back", () => {
    expect(attachPatch(said, undefined, undefined, "now")).to.deep.equal({ attach: null });
    expect(attachPatch(undefined, undefined, undefined, "now")).to.equal(undefined);
  });
});

describe("bounded", () => {
  it("cuts at a whole character, and takes no control characters", () => {
    expect(bounded("a\u0000\nb")).to.equal("a b");
    for (const text of ["x", "ü", "€", "😀"]) {
      const cut = bounded(text.repeat(2_000));
      expect(new TextEncoder().encode(cut).length).to.be.at.most(1_000).and.at.least(990);
      expect([...cut].slice(0, -1).every((one) => one === text)).to.equal(true);
    }
    expect(bounded("x".repeat(1_000))).to.equal("x".repeat(1_000));
  });
});
