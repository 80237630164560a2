import { expect } from "chai";
import { LineReader } from "../../../../../src/host/linux/child/line-reader.ts";

describe("LineReader", () => {
  function read(pieces: readonly string[], limit = 100): string[] {
    const lines: string[] = [];
    const reader = new LineReader((line) => lines.push(line), limit);
    for (const piece of pieces) reader.read(piece);
    reader.end();
    return lines;
  }

  it("tells whole lines, wherever the pieces that they come in are cut", () => {
    const text = "the password is hunter2\r10 %\b\b\b\b20 %\n\n  last";
    const lines = ["the password is hunter2", "10 %", "20 %", "last"];
    for (let at = 0; at <= text.length; at++) {
      expect(read([text.slice(0, at), text.slice(at)]), `cut at ${at}`).to.deep.equal(lines);
    }
    expect(read([...text]), "each by itself").to.deep.equal(lines);
  });

  it("tells nothing of a line that does not end, and goes on with the next", () => {
    expect(read(["a".repeat(60), "b".repeat(60), "c", "\nnext\n"])).to.deep.equal(["next"]);
  });
});
