import { expect } from "chai";
import { figuresOf as hungFigures, slownessOf } from "../../../hack/proof/hung/figures.ts";
import type { Cycles, HungFigures } from "../../../hack/proof/hung/run-hung.ts";
import { growthOf, figuresOf as soakFigures } from "../../../hack/proof/soak/figures.ts";
import type { SoakFigures } from "../../../hack/proof/soak/run-soak.ts";
import type { Sample } from "../../../hack/proof/steady/trend.ts";

const mebi = 2 ** 20;
const each = (of: (second: number) => number): Sample[] =>
  Array.from({ length: 601 }, (_, second) => ({ at: second * 1000, value: of(second) }));
const atRest = { rssBytes: 100 * mebi, fds: 31, threads: 11, children: 0 };
const cycles = (before: number, during: number): Cycles => {
  const of = (ms: number) => Array.from({ length: 100 }, (_, i) => ({ mount: ms + i / 100, unmount: ms, remount: ms }));
  return { before: of(before), during: of(during) };
};
const hung = (more: Partial<HungFigures>): HungFigures => ({
  ...{ seconds: 700, cycles: cycles(50, 52), control: undefined, waits: new Map([["NotAnswering", 50]]) },
  ...{ most: { all: 15, ofAVolume: 1, requestsOfAServer: 1 }, healedMs: [900, 1000], rest: [atRest, atRest] },
  ...{ rss: each(() => 100 * mebi), controlRSS: [], outputs: [{ where: "log", bytes: 2048, canaries: 0 }] },
  ...{ violations: [], ...more },
});
const soak = (series: Partial<SoakFigures["series"]>): SoakFigures => {
  const flat = { rssBytes: each((s) => (100 + (s % 30)) * mebi), journalBytes: each((s) => (s % 40) * 10_000) };
  const counts = { fds: each(() => 31), threads: each(() => 11), children: each((s) => s % 2) };
  return {
    ...{ seconds: 600, kinds: ["bind-0"], changes: 9, released: 8, looks: 7, rests: 6, shown: 5, outputs: [] },
    ...{ violations: [], series: { ...flat, ...counts, ...series } },
  };
};

describe("what proofs of steadiness make of their figures", () => {
  it("others that take up to a tenth longer while half of the volumes hang are allowed, more is not", () => {
    expect(slownessOf(hung({}))).to.deep.equal([]);
    const slow = slownessOf(hung({ cycles: cycles(50, 60) }));
    expect(slow).to.have.length(3);
    expect(slow[0]).to.match(/^p99 of mount is 1\.20 times/);
  });

  it("the node beside it takes out what else the machine did", () => {
    expect(slownessOf(hung({ cycles: cycles(50, 80), control: cycles(50, 80) }))).to.deep.equal([]);
    expect(slownessOf(hung({ cycles: cycles(50, 50), control: cycles(50, 25) }))).to.have.length(3);
    expect(hungFigures(hung({ control: cycles(50, 80) })).join("\n")).to.match(/node beside it: mount .*1\.59/);
  });

  it("memory that rises all the time is told, one that rises at first is not", () => {
    expect(slownessOf(hung({ rss: each((s) => (100 + s / 30) * mebi) }))).to.deep.equal([
      "RSS rises by 16.0 MiB: 8 are allowed",
    ]);
    expect(slownessOf(hung({ rss: each((s) => (100 + Math.min(s, 110)) * mebi) }))).to.deep.equal([]);
  });

  it("saws of a soak are flat; a leak of any measure is told", () => {
    expect(growthOf(soak({}))).to.deep.equal([]);
    expect(growthOf(soak({ rssBytes: each((s) => (100 + s / 30) * mebi) }))).to.have.length(1);
    expect(growthOf(soak({ journalBytes: each((s) => s * 1000) }))).to.have.length(1);
    for (const name of ["fds", "threads", "children"] as const)
      expect(growthOf(soak({ [name]: each((s) => 10 + Math.floor(s / 100)) })), name).to.have.length(1);
  });

  it("violations stand beneath the figures", () => {
    expect(hungFigures(hung({ violations: ["1 canaries in log"] })).slice(-2)).to.deep.equal([
      "violations: 1",
      "  1 canaries in log",
    ]);
    expect(soakFigures(soak({})).at(-1)).to.equal("violations: 0");
  });
});
