import { expect } from "chai";
import { createPolicyWatch } from "../../../src/kube/policy-watch.ts";
import { virtualSystem } from "./virtual-system.ts";

const minute = 60_000;

describe("createPolicyWatch", () => {
  function story(answers: readonly (string | undefined | Error)[]) {
    const system = virtualSystem();
    const told: (string | undefined)[] = [];
    let looks = 0;
    const watch = createPolicyWatch({
      system,
      look: async () => {
        const answer = answers[Math.min(looks, answers.length - 1)];
        looks += 1;
        if (answer instanceof Error) throw answer;
        return answer;
      },
      onChange: (missing) => told.push(missing),
    });
    watch.start();
    return { system, watch, told, looks: () => looks };
  }

  it("asks every ten minutes while all is in force, and tells nobody", async () => {
    const { system, watch, told, looks } = story([undefined]);
    await system.advance(30 * minute);
    expect(looks()).to.equal(4);
    expect(told).to.deep.equal([]);
    expect(watch.missing).to.equal(undefined);
  });

  it("tells once of what is missing, asks every minute until it is back, and tells of that", async () => {
    const { system, watch, told, looks } = story([undefined, "gone", "gone", undefined]);
    await system.advance(11 * minute);
    expect(watch.missing).to.equal("gone");
    expect(told).to.deep.equal(["gone"]);
    await system.advance(2 * minute);
    expect(told).to.deep.equal(["gone", undefined]);
    expect(looks()).to.equal(4);
    const said = system.lines.filter(({ level }) => level !== "debug").map(({ message }) => message);
    expect(said).to.deep.equal(["admission policies are not in force", "the admission policies are in force again"]);
  });

  it("goes by the last answer while none can be had, and asks again in a minute", async () => {
    const { system, watch, told, looks } = story(["gone", new Error("no answer"), new Error("no answer"), undefined]);
    await system.advance(2.5 * minute);
    expect(watch.missing).to.equal("gone");
    expect(looks()).to.equal(3);
    await system.advance(minute);
    expect(told).to.deep.equal(["gone", undefined]);
  });

  it("warns of the first look in a row that says nothing, with the error, and only of that", async () => {
    const none = new Error("no answer");
    const { system } = story([none, none, undefined, none, none]);
    await system.advance(20 * minute);
    const warned = system.lines.filter(({ level }) => level === "warn");
    expect(warned).to.have.length(2);
    for (const { message, meta } of warned) {
      expect(message).to.equal("whether the admission policies are in force is not known");
      expect(meta).to.include({ error: "no answer" });
    }
  });

  it("asks no more after its stop", async () => {
    const { system, watch, looks } = story([undefined]);
    await system.advance(minute);
    await watch.stop();
    await system.advance(60 * minute);
    expect(looks()).to.equal(1);
    expect(system.pendingTimers).to.equal(0);
  });
});
