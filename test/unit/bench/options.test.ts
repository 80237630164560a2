import { expect } from "chai";
import { parseOptions } from "../../../hack/bench/lib/options.ts";
import { parseSample } from "../../../hack/bench/peer/run.ts";

describe("the benchmarks' parseOptions", () => {
  it("has three runs of everything, and one of little with --quick", () => {
    expect(parseOptions([])).to.deep.equal({
      quick: false,
      runs: 3,
      pods: undefined,
      only: undefined,
      json: undefined,
    });
    expect(parseOptions(["--quick"])).to.include({ quick: true, runs: 1 });
    expect(parseOptions(["--quick", "--runs", "2"])).to.include({ runs: 2 });
  });

  it("takes which scenarios, and where figures go", () => {
    const options = parseOptions(["--pods", "1,500", "--only", "in the agent", "--json", "out.json"]);
    expect(options).to.deep.include({ pods: [1, 500], only: "in the agent", json: "out.json" });
  });

  it("says what is wrong", () => {
    expect(() => parseOptions(["--runs", "0"])).to.throw("--runs takes whole numbers from 1 to 99999, not 0");
    expect(() => parseOptions(["--pods", "1,x"])).to.throw("not x");
    expect(() => parseOptions(["--fast"])).to.throw("--fast");
  });
});

describe("parseSample", () => {
  it("reads the figures of the last line, with what is true as 1", () => {
    const output = '{"pods":1}\n{"scenario":"drift","repaired":0,"sync_says_ok":true,"after_sync_ms":1.5}\n';
    expect(parseSample(output)).to.deep.equal({ repaired: 0, sync_says_ok: 1, after_sync_ms: 1.5 });
  });

  it("refuses what is no JSON", () => {
    expect(() => parseSample("peer: no such scenario")).to.throw();
  });
});
