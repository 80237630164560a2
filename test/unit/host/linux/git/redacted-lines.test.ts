import { expect } from "chai";
import { RedactedLines } from "../../../../../src/host/linux/git/redacted-lines.ts";

describe("RedactedLines", () => {
  it("are whole, so that a secret is known that comes in pieces", () => {
    const lines = new RedactedLines(["s3cret"]);
    expect(lines.push("one\nremote: s3")).to.deep.equal(["one"]);
    expect(lines.push("cret\r\n\ntwo")).to.deep.equal(["remote: [redacted]"]);
    expect(lines.push(" s3cre")).to.deep.equal([]);
    expect(lines.push("t")).to.deep.equal([]);
    expect(lines.rest()).to.deep.equal(["two [redacted]"]);
    expect(lines.rest()).to.deep.equal([]);
  });

  it("leave out one that is too long, of which a part could be half a secret", () => {
    const lines = new RedactedLines(["s3cret"]);
    expect(lines.push("x".repeat(16_000))).to.deep.equal([]);
    expect(lines.push(`${"x".repeat(383)}s3`)).to.deep.equal([]);
    expect(lines.push("cret\nnext\n")).to.deep.equal(["next"]);
  });
});
