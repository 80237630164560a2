import { expect } from "chai";
import { effectsAfter, someCrash, somePairs } from "../../sim/crash-pairs.ts";
import { type Effect, Faults, nextRunOf } from "../../sim/faults.ts";
import { SeededRandom } from "../../sim/random.ts";

const effect = (process: string, canTear = false): Effect => ({ process, what: "bind", canTear });
const first = { effect: 2, moment: "after", ending: "kill" } as const;

describe("pairs of crashes", () => {
  it("end the next run of the same process at its own effect, and no other one", () => {
    const faults = new Faults({ ...first, next: { effect: 2, moment: "torn", ending: "reboot" } });
    const runs = ["a#1", "a#1", "b#1", "a#2", "b#1", "a#2", "a#2", "a#3"];
    const hits = runs.map((process) => faults.next(effect(process, true))?.moment);
    const none = undefined;
    expect(hits).to.deep.equal([none, "after", none, none, none, "torn", none, none]);
    expect(faults.struck).to.equal(true);
  });

  it("have not happened when the first one has", () => {
    const faults = new Faults({ ...first, next: { effect: 1, moment: "after", ending: "kill" } });
    for (const process of ["a#1", "a#1", "b#1", "a#3"]) faults.next(effect(process));
    expect({ crashes: faults.crashes, struck: faults.struck }).to.deep.equal({ crashes: 1, struck: false });
  });

  it("are looked for among the effects of the next run alone", () => {
    const effects = ["a#9", "b#1", "a#10", "b#1", "a#10", "a#11"].map((process) => effect(process));
    expect(nextRunOf("a#9")).to.equal("a#10");
    expect(effectsAfter(effects, 1)).to.deep.equal([effect("a#10"), effect("a#10")]);
    expect(effectsAfter(effects, 6)).to.deep.equal([]);
  });

  it("are the same for the same seed, different from each other, and possible", () => {
    const effects = Array.from({ length: 30 }, (_, i) => effect("controller-0#2", i % 2 === 0));
    const some = () => somePairs(first, { effects, most: 50, random: new SeededRandom(7, "pairs") });
    const pairs = some();
    expect(some()).to.deep.equal(pairs);
    expect(new Set(pairs.map((pair) => JSON.stringify(pair))).size).to.equal(pairs.length);
    expect(pairs.length).to.be.above(20);
    for (const { next } of pairs) {
      expect(next?.ending, "a controller has no machine").to.equal("kill");
      expect(next?.effect).to.be.within(1, 30);
      if (next?.moment === "torn") expect(effects[next.effect - 1]?.canTear).to.equal(true);
    }
    expect(somePairs(first, { effects: [], most: 6, random: new SeededRandom(7, "pairs") })).to.deep.equal([]);
  });

  it("take the machine of an agent along now and then", () => {
    const random = new SeededRandom(1, "pairs");
    const endings = Array.from({ length: 60 }, () => someCrash([effect("a#1")], random).ending);
    expect(new Set(endings)).to.deep.equal(new Set(["kill", "reboot"]));
  });
});
