import { expect } from "chai";
import { formatForget, formatJournal, formatPut, parseJournal } from "../../../../src/agent/journal/journal-format.ts";
import { asVolumeName } from "../../../../src/agent/model/identities.ts";
import { formatOf, lineOf, record } from "./fake-journal-file.ts";

describe("journal format", () => {
  it("gives back what was written, the newest of each volume", () => {
    const text =
      formatJournal({ bootID: "b", epoch: 3, records: new Map([[asVolumeName("a"), record(asVolumeName("a"))]]) }) +
      formatPut(record(asVolumeName("a"), 2)) +
      formatPut(record(asVolumeName("c"))) +
      formatForget(asVolumeName("c"));
    const parsed = parseJournal(text);
    expect(parsed).to.include({ bootID: "b", epoch: 3, damaged: 0 });
    expect([...parsed.records.values()]).to.deep.equal([record(asVolumeName("a"), 2)]);
  });

  it("passes over a last line that was cut off at any character", () => {
    const whole = formatJournal({ bootID: "b", epoch: 1, records: new Map() }) + formatPut(record(asVolumeName("a")));
    const last = formatPut(record(asVolumeName("z"), 9));
    for (let length = 0; length < last.length; length++) {
      const parsed = parseJournal(whole + last.slice(0, length));
      expect([...parsed.records.keys()], `cut at ${length}`).to.deep.equal(["a"]);
      expect(parsed.damaged).to.equal(0);
    }
  });

  for (const [what, rest] of [
    ["a block of zeros, as xfs leaves after a power cut", "\0".repeat(512)],
    ["megabytes of rubbish", "x".repeat(4 * 1024 * 1024)],
  ] as const)
    it(`reads what stands before ${what}`, () => {
      const whole = formatJournal({ bootID: "b", epoch: 1, records: new Map() }) + formatPut(record(asVolumeName("a")));
      const { records, bootID, damaged } = parseJournal(whole + rest);
      expect([[...records.keys()], bootID, damaged]).to.deep.equal([["a"], "b", 0]);
    });

  it("counts a line that was damaged, and reads the others", () => {
    const text =
      formatPut(record(asVolumeName("a"))) +
      formatPut(record(asVolumeName("b"))).replace("u1", "u2") +
      formatPut(record(asVolumeName("c")));
    const parsed = parseJournal(text);
    expect([...parsed.records.keys()]).to.deep.equal(["a", "c"]);
    expect(parsed.damaged).to.equal(1);
  });

  for (const json of [
    "null",
    "7",
    '"text"',
    "[]",
    "{}",
    "no JSON",
    '{"put":null}',
    '{"put":{"name":"a"}}',
    '{"put":{"name":"a","targets":[{}]}}',
    '{"put":{"targets":[]}}',
    '{"forget":1}',
    '{"reap":{"path":null}}',
    '{"reaped":null}',
    '{"journal":"1"}',
    '{"journal":1}',
  ]) {
    it(`counts a line that no agent writes, with a right checksum: ${json}`, () => {
      const text = formatPut(record(asVolumeName("a"))) + lineOf(json) + formatPut(record(asVolumeName("c")));
      const parsed = parseJournal(text);
      expect([...parsed.records.keys()]).to.deep.equal(["a", "c"]);
      expect(parsed.damaged).to.equal(1);
    });
  }

  it("says of an older format, too, whose agent understands it", () => {
    expect(() => parseJournal(formatOf(0))).to.throw("use an agent of the version that has written it");
  });

  it("refuses a format of another version", () => {
    expect(() => parseJournal(formatOf(2))).to.throw("format 2");
  });
});
