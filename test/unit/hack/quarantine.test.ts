import { expect } from "chai";
import { isQuarantined, overdue, parseQuarantine, readQuarantine } from "../../../hack/lib/lanes/quarantine.ts";

const line = "real | a drift* | 2026-11-20 | waits for an event that may come before it listens";

describe("test/quarantine.txt", () => {
  it("can be read as it is", () => {
    expect(readQuarantine()).to.be.an("array");
  });

  it("has lane, title, day and reason, and names the line that has not", () => {
    const [entry] = parseQuarantine(`# why\n\n${line}\n`);
    expect(entry).to.include({ lane: "real", title: "a drift*", since: "2026-11-20" });
    expect(() => parseQuarantine("# x\nreal | a | 2026-11-20")).to.throw(
      'quarantine.txt:2: must be "lane | title | since',
    );
    expect(() => parseQuarantine("real | a | lately | x")).to.throw("must be a day, as 2026-11-27");
    expect(() => parseQuarantine("real | * | 2026-11-20 | x")).to.throw("a whole lane is never left out");
  });

  it("names tests by lane and title, or the beginning of one", () => {
    const list = parseQuarantine(line);
    expect(isQuarantined(list, { lane: "real", title: "a drift is repaired" })).to.equal(true);
    expect(isQuarantined(list, { lane: "csi", title: "a drift is repaired" })).to.equal(false);
    expect(isQuarantined(list, { lane: "real", title: "no drift" })).to.equal(false);
  });

  it("keeps a test for two weeks at most", () => {
    const list = parseQuarantine(line);
    expect(overdue(list, new Date("2026-12-04T12:00:00Z"))).to.deep.equal([]);
    expect(overdue(list, new Date("2026-11-19T12:00:00Z"))[0]).to.include("yet to come");
    expect(overdue(list, new Date("2026-12-05T00:00:00Z"))[0]).to.match(
      /^real: a drift\* is in .* for 15 days, 14 at most/,
    );
  });
});
