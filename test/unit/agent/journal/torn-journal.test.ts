import { expect } from "chai";
import { type ParsedJournal, parseJournal } from "../../../../src/agent/journal/journal-format.ts";
import { journalOfAllKinds } from "../../../lib/builders/journal-of-all-kinds.ts";

const lines = journalOfAllKinds("boot");
const whole = Buffer.from(lines.join(""));
const textOf = (state: ParsedJournal) =>
  JSON.stringify([state.bootID, state.epoch, state.damaged, [...state.records], [...state.reaps]]);
const after = (count: number) => textOf(parseJournal(lines.slice(0, count).join("")));
/** Every state of a volume that was ever written. */
const written = new Set(
  lines.flatMap((_, index) => [...parseJournal(lines.slice(0, index + 1).join("")).records.values()].map(text)),
);

function text(record: object): string {
  return JSON.stringify(record);
}

describe("a journal that was torn or damaged", () => {
  it("cut at any byte, is the state after its last whole line", () => {
    const states = Array.from({ length: lines.length + 1 }, (_, count) => after(count));
    const wrong: string[] = [];
    let wholeLines = 0;
    for (let length = 0; length <= whole.length; length += 1) {
      const ends = whole[length - 1] === 0x0a;
      if (ends) wholeLines += 1;
      const read = textOf(parseJournal(whole.toString("utf8", 0, length)));
      if (read !== states[wholeLines]) wrong.push(`cut at ${length}: ${read}`);
    }
    expect(wrong).to.deep.equal([]);
    expect(wholeLines).to.equal(lines.length);
  });

  for (const [what, change] of [
    ["flipped in one bit", (byte: number) => byte ^ 0x01],
    ["made a newline", () => 0x0a],
  ] as const) {
    it(`any byte ${what}, tells of damage, and has no record that nobody has written`, () => {
      const expected = textOf(parseJournal(whole.toString("utf8")));
      const wrong: string[] = [];
      for (let at = 0; at < whole.length; at += 1) {
        const byte = whole[at] ?? 0;
        const changed = Buffer.from(whole);
        changed[at] = change(byte);
        if (changed[at] === byte) continue;
        const read = parseJournal(changed.toString("utf8"));
        const where = `byte ${at} of ${whole.length}, ${JSON.stringify(String.fromCharCode(byte))}`;
        if (read.damaged === 0 || textOf(read) === expected) wrong.push(`${where}: nobody is told`);
        for (const record of read.records.values())
          if (!written.has(text(record))) wrong.push(`${where}: ${record.name} was never like that`);
      }
      expect(wrong).to.deep.equal([]);
    });
  }
});
