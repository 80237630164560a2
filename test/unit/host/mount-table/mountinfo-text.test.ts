import { expect } from "chai";
import fc from "fast-check";
import { parseMountinfo } from "../../../../src/host/mount-table/mountinfo.ts";
import { emptyText, parseAfter, parseLinesOf } from "../../../../src/host/mount-table/mountinfo-text.ts";
import { OptionLists } from "../../../../src/host/mount-table/option-lists.ts";

/** Lines that begin and end alike, so that what two texts have in common is not whole lines. */
const line = fc
  .record({
    id: fc.constantFrom(2, 12, 112, 22, 122),
    point: fc.constantFrom("/a", "/aa", "/a/é", "/long".repeat(900)),
    options: fc.constantFrom("rw", "ro,rw", "rw,rw"),
  })
  .map(({ id, point, options }) => `${id} 1 0:5 / ${point} ${options} shared:1 - tmpfs tmpfs rw`);
const text = fc.array(line, { maxLength: 8 }).map((lines) => lines.map((one) => `${one}\n`).join(""));

describe("parseAfter", () => {
  it("gives what parsing the whole text gives, whatever was there before", () => {
    fc.assert(
      fc.property(fc.array(text, { minLength: 2, maxLength: 6 }), (texts) => {
        const lists = new OptionLists();
        let parsed = emptyText;
        for (const next of texts) {
          parsed = parseAfter(parsed, Buffer.from(next), lists);
          expect(parsed.entries).to.deep.equal(parseMountinfo(next));
          const starts = parsed.starts.map((start, at) => parsed.text.toString("utf8", start, parsed.starts[at + 1]));
          expect(starts.join("")).to.equal(next);
          expect(starts.every((one) => one.endsWith("\n") && one.indexOf("\n") === one.length - 1)).to.equal(true);
        }
      }),
      { numRuns: 2_000 },
    );
  });

  it("keeps the entries of lines that did not change, and the whole if none did", () => {
    const lists = new OptionLists();
    const lines = [1, 2, 3, 4].map((id) => `${id} 1 0:5 / /m${id} rw - tmpfs tmpfs rw\n`);
    const first = parseAfter(emptyText, Buffer.from(lines.join("")), lists);
    expect(parseAfter(first, Buffer.from(lines.join("")), lists)).to.equal(first);
    const second = parseAfter(first, Buffer.from([lines[0], lines[2], lines[3]].join("")), lists);
    expect(second.entries).to.have.lengthOf(3);
    for (const entry of second.entries) expect(first.entries.includes(entry)).to.equal(true);
  });
});

describe("parseLinesOf", () => {
  const ids = [2, 12, 112, 22, 122];

  it("gives the lines with these ids that parsing the whole text gives, and none for an id that is not there", () => {
    const onceEach = fc.uniqueArray(line, { selector: (one) => one.split(" ")[0], maxLength: 5 });
    fc.assert(
      fc.property(onceEach, fc.subarray(ids), (lines, asked) => {
        const whole = lines.map((one) => `${one}\n`).join("");
        const expected = parseMountinfo(whole).filter(({ id }) => asked.includes(id));
        const found = parseLinesOf(Buffer.from(whole), asked, new OptionLists());
        expect([...found.values()]).to.have.deep.members(expected);
        for (const [id, entry] of found) expect(entry.id).to.equal(id);
      }),
    );
  });
});
