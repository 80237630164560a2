import { expect } from "chai";
import { attachPatch, boundedMessage } from "../../../../src/controller/model/wait-reason.ts";

const on = { kind: "Node", name: "n0" };
const waitReason = { reason: "AttachFailed", message: "m", on } as const;
const said = { reason: "AttachFailed", message: "m", on, since: "before" };

describe("attachPatch", () => {
  it("writes a reason, and not twice", () => {
    expect(attachPatch(undefined, waitReason, "va", "now")).to.deep.equal({
      attach: { ...waitReason, since: "now", volumeAttachment: "va" },
    });
    expect(attachPatch(said, waitReason, undefined, "now")).to.equal(undefined);
  });
  it("keeps since while reason and object stay", () => {
    expect(attachPatch(said, { ...waitReason, message: "other" }, undefined, "now")).to.deep.equal({
      attach: { message: "other" },
    });
    const other = { ...waitReason, on: { kind: "Node", name: "n1" } };
    expect(attachPatch(said, other, undefined, "now")).to.deep.equal({ attach: { on: { name: "n1" }, since: "now" } });
  });
  it("takes it back", () => {
    expect(attachPatch(said, undefined, undefined, "now")).to.deep.equal({ attach: null });
    expect(attachPatch(undefined, undefined, undefined, "now")).to.equal(undefined);
  });
});

describe("bounded", () => {
  it("cuts at a whole character, and takes no control characters", () => {
    expect(boundedMessage("a\u0000\nb")).to.equal("a b");
    expect(boundedMessage("a\u202eb\u2028c")).to.equal("a\\u{202e}b\\u{2028}c");
    for (const text of ["x", "ü", "€", "😀"]) {
      const cut = boundedMessage(text.repeat(2_000));
      expect(new TextEncoder().encode(cut).length).to.be.at.most(1_000).and.at.least(990);
      expect([...cut].slice(0, -1).every((one) => one === text)).to.equal(true);
    }
    expect(boundedMessage("x".repeat(1_000))).to.equal("x".repeat(1_000));
  });
});
