import { expect } from "chai";
import { driverSpans } from "../../csi/history/driver-spans.ts";
import type { RecordLine } from "../../drivers/lib/record.ts";

const path = "/staging";
let micros = 0;

function line(pid: number, kind: RecordLine["kind"], what: string, detail?: object): RecordLine {
  micros += 1;
  return { at: `${micros}000`, pid, node: "id-of-a", call: 1, kind, what, volume: "vol-1", ...(detail && { detail }) };
}

const stage = (pid: number) => [line(pid, "begin", "staged", { path }), line(pid, "end", "staged", { path })];
const asked = (pid: number) => line(pid, "call", "NodeUnstageVolume", { stagingTargetPath: path });
const answered = (pid: number, detail?: object) => line(pid, "reply", "NodeUnstageVolume", detail);

const spansOf = (record: RecordLine[]) =>
  driverSpans(record, { offsetMicros: 0 }, (id) => id.replace("id-of-", "")).map(({ from, to }) => [from, to]);

describe("what a driver wrote down", () => {
  beforeEach(() => {
    micros = 0;
  });

  it("is a use from before it was begun until its opposite was done", () => {
    const record = [
      ...stage(1),
      asked(1),
      line(1, "begin", "unstaged", { path }),
      line(1, "end", "unstaged", { path }),
    ];
    expect(spansOf([...record, answered(1)])).to.deep.equal([[1, 5]]);
  });

  it("is over when the next driver finds nothing, where the one before was killed as it undid it", () => {
    const killed = [...stage(1), asked(1), line(1, "begin", "unstaged", { path })];
    const record = [...killed, asked(2), answered(2), ...stage(2)];
    expect(spansOf(record)).to.deep.equal([
      [1, 6],
      [7, undefined],
    ]);
  });

  it("goes on where the next driver refuses, or was told to lie", () => {
    const killed = [...stage(1), asked(1), line(1, "begin", "unstaged", { path })];
    expect(spansOf([...killed, asked(2), answered(2, { code: "INTERNAL" })])).to.deep.equal([[1, undefined]]);
    micros = 0;
    const lied = [...stage(3), asked(3), line(3, "fault", "NodeUnstageVolume", { kind: "lie" }), answered(3)];
    expect(spansOf(lied)).to.deep.equal([[1, undefined]]);
  });
});
