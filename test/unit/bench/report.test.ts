import { expect } from "chai";
import fc from "fast-check";
import type { Noise } from "../../../hack/bench/report/noise.ts";
import { type Row, rowsOf } from "../../../hack/bench/report/row.ts";
import { figuresOf, median, ratio, spread } from "../../../hack/bench/report/statistics.ts";
import { noiseText, tableOf } from "../../../hack/bench/report/table.ts";

const row: Row = {
  benchmark: "mount-latency",
  scenario: "1 pod × 2 tmpfs, alone",
  scope: "in the agent",
  measure: "mount p50",
  unit: "ms",
  wanted: 20,
  ours: [12, 10, 14],
  kubelet: [301, 300, 302],
};

describe("the benchmarks' statistics", () => {
  it("median: the middle one, or the mean of two, in any order", () => {
    expect([median([]), median([3]), median([4, 1]), median([9, 1, 5])]).to.deep.equal([undefined, 3, 2.5, 5]);
    fc.assert(
      fc.property(fc.array(fc.double({ min: 0, max: 1e6, noNaN: true }), { minLength: 1 }), (sample) => {
        const middle = median(sample) ?? Number.NaN;
        expect(sample.filter((value) => value < middle).length).to.be.at.most(sample.length / 2);
        expect(sample.filter((value) => value > middle).length).to.be.at.most(sample.length / 2);
      }),
    );
  });

  it("ratio: how many times more the other takes; none where a side has no figure, or ours is nothing", () => {
    expect([ratio([10, 20, 30], [400]), ratio([], [1]), ratio([1], []), ratio([0], [1])]).to.deep.equal([
      20,
      undefined,
      undefined,
      undefined,
    ]);
  });

  it("spread: the largest by the smallest", () => {
    expect([spread([2, 3, 6]), spread([]), spread([0, 1])]).to.deep.equal([3, undefined, undefined]);
  });

  it("figuresOf: p50, p99 and the largest by nearest rank", () => {
    const sample = Array.from({ length: 200 }, (_, i) => i + 1);
    expect(figuresOf("mount", sample)).to.deep.equal({ mountP50: 100, mountP99: 198, mountMax: 200 });
  });
});

describe("rowsOf", () => {
  const of = { benchmark: "b", scenario: "s", scope: "in the agent" } as const;
  const measures = [
    { name: "mount p50", unit: "ms", ours: "mountP50", kubelet: "mount_wait_p50_ms", wanted: 20 },
    { name: "status writes", unit: "", ours: "writes" },
    { name: "absent", unit: "", ours: "absent" },
  ] as const;

  it("takes each side's figure by its own name, all runs in their order, and leaves out what nobody measured", () => {
    const samples = { ours: [{ mountP50: 1 }, { mountP50: 2, writes: 1 }], kubelet: [{ mount_wait_p50_ms: 301 }] };
    expect(rowsOf(of, measures, samples)).to.deep.equal([
      { ...of, measure: "mount p50", unit: "ms", wanted: 20, ours: [1, 2], kubelet: [301] },
      { ...of, measure: "status writes", unit: "", ours: [1], kubelet: [] },
    ]);
  });
});

describe("tableOf", () => {
  const last = (wanted: Partial<Row>) =>
    tableOf([{ ...row, ...wanted }])
      .split("\n")
      .at(-1);

  it("shows the median and the extremes of the runs, the scope, the ratio, and what was wanted", () => {
    expect(last({})).to.equal(
      "| mount-latency | 1 pod × 2 tmpfs, alone | in the agent | mount p50 | 12 ms [10..14] | 301 ms [300..302] | 25× | ≥20× |",
    );
  });

  it("marks a ratio that is less than what was wanted", () => {
    expect(last({ ours: [100] })).to.contain("| 100 ms | 301 ms [300..302] | **3.0×** | ≥20× |");
  });

  it("gives no ratio without kubelet, nor of counts", () => {
    expect(last({ kubelet: [] })).to.contain("| – |  | ≥20× |");
    expect(last({ unit: "", ours: [10], kubelet: [0] })).to.contain("| 10 | 0 |  | ≥20× |");
  });
});

describe("noiseText", () => {
  const noise: Noise = {
    cpus: 2,
    kernel: "6.18",
    node: "v24",
    fileSystem: "ext4",
    loadBefore: [0.1, 0.2, 0.3],
    loadAfter: [1, 2, 3],
    stolen: 0.012,
    calibrationMs: [50, 52, 51],
  };

  it("names the machine and how evenly it ran", () => {
    expect(noiseText(noise)).to.contain("2 CPUs, Linux 6.18").and.contain("1.2 % of the time stolen");
    expect(noiseText(noise)).to.match(/51 ms in the middle, the slowest 1\.0 times the fastest\.$/);
  });

  it("warns of a machine that had other things to do", () => {
    expect(noiseText({ ...noise, calibrationMs: [50, 200] })).to.contain("4.0 times the fastest: a noisy machine");
  });
});
