import { expect } from "chai";
import { afterWarmUp, type Sample, trendOf } from "../../../hack/proof/steady/trend.ts";

const minuteMs = 60_000;
const series = (of: (minute: number) => number): Sample[] =>
  Array.from({ length: 61 }, (_, minute) => ({ at: minute * minuteMs, value: of(minute) }));

describe("trendOf", () => {
  it("says what a leak gains in the time, and in an hour", () => {
    const { rise, perHour, mean } = trendOf(series((minute) => 100 + minute * 2));
    expect({ rise, perHour, mean }).to.deep.equal({ rise: 120, perHour: 120, mean: 160 });
  });

  it("finds it beneath a saw", () => {
    expect(trendOf(series((minute) => minute + (minute % 5) * 10)).rise).to.be.closeTo(60, 10);
  });

  it("a saw alone is flat", () => {
    expect(trendOf(series((minute) => (minute % 5) * 10)).rise).to.be.closeTo(0, 5);
  });

  it("what grows only at first is not a leak: the first fifth does not count", () => {
    const warm = series((minute) => Math.min(minute, 12));
    expect(trendOf(warm).rise).to.be.above(3);
    expect(trendOf(afterWarmUp(warm)).rise).to.equal(0);
  });

  it("of one sample, and of none, nothing is said", () => {
    expect(trendOf([{ at: 5, value: 7 }])).to.include({ rise: 0, first: 7, last: 7 });
    expect(trendOf([]).samples).to.equal(0);
  });
});
