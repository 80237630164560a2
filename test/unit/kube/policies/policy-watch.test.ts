import { expect } from "chai";
import type { PolicyChange } from "../../../../src/kube/policies/follow-policies.ts";
import type { PolicyInspection } from "../../../../src/kube/policies/policies.ts";
import { createPolicyWatch } from "../../../../src/kube/policies/policy-watch.ts";
import { virtualSystem } from "../virtual-system.ts";

const minute = 60_000;
const gone = "gone: apply config/policy";

/** Of the policy of the agents: seen, or with other annotations. */
const touched: PolicyChange = { name: "nodevolume-agents", decides: false };

describe("createPolicyWatch", () => {
  /** @param objects which the look finds, by the number of the look */
  function story(
    answers: readonly (string | undefined | Error)[],
    started = true,
    objects: (look: number) => string = () => "same",
  ) {
    const system = virtualSystem();
    const told: (string | undefined)[] = [];
    let looks = 0;
    let changed = (_: PolicyChange) => {};
    let knownTimes = 0;
    let rightTimes = 0;
    const watch = createPolicyWatch({
      system,
      look: async () => {
        const answer = answers[Math.min(looks, answers.length - 1)];
        looks += 1;
        if (answer instanceof Error) throw answer;
        const findings =
          answer === undefined ? [] : [{ policy: answer, gone: !answer.includes("other"), message: answer }];
        return { findings, agents: objects(looks) };
      },
      follow(onChange) {
        changed = onChange;
        return { start: () => {}, stop: () => {} };
      },
      onChange: (missing) => told.push(missing),
      onKnown: () => {
        knownTimes += 1;
      },
      onAgentsRight: () => {
        rightTimes += 1;
      },
    });
    if (started) watch.start();
    return {
      system,
      watch,
      told,
      looks: () => looks,
      known: () => knownTimes,
      right: () => rightTimes,
      changed: (change = touched) => changed(change),
    };
  }

  it("asks every five minutes while all is in force, and tells nobody", async () => {
    const { system, watch, told, looks } = story([undefined]);
    await system.advance(16 * minute);
    expect(looks()).to.equal(4);
    expect(told).to.deep.equal([]);
    expect(watch.missing).to.equal(undefined);
  });

  it("tells once of what is missing, asks every minute until it is back, and tells of that", async () => {
    const { system, watch, told, looks } = story([undefined, "gone", "gone", undefined]);
    await system.advance(5.6 * minute);
    expect(watch.missing).to.equal(gone);
    expect(told).to.deep.equal([gone]);
    await system.advance(2 * minute);
    expect(told).to.deep.equal([gone, undefined]);
    expect(looks()).to.equal(4);
    const said = system.lines.filter(({ level }) => level !== "debug").map(({ message }) => message);
    expect(said).to.deep.equal(["admission policies are not in force", "the admission policies are in force again"]);
  });

  it("goes by the last answer while none can be had, and asks again in a minute", async () => {
    const { system, watch, told, looks } = story(["gone", new Error("no answer"), new Error("no answer"), undefined]);
    await system.advance(2.5 * minute);
    expect(watch.missing).to.equal(gone);
    expect(looks()).to.equal(3);
    await system.advance(minute);
    expect(told).to.deep.equal([gone, undefined]);
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

  it("looks again a second after a change, however often it is told of one", async () => {
    const { system, watch, looks, changed } = story([undefined, "gone"]);
    await system.advance(100);
    for (let i = 0; i < 5; i += 1) changed();
    await system.advance(1_200);
    expect([looks(), watch.missing]).to.deep.equal([2, gone]);
  });

  it("looks at once after a change where one looks, and spread over the time where thousands do", async () => {
    const looksAfter = async (ms: number, spreadMs: number) => {
      const system = virtualSystem({ random: () => 0.9 });
      let looks = 0;
      let changed = (_: PolicyChange) => {};
      const watch = createPolicyWatch({
        system,
        async look() {
          looks += 1;
          return { findings: [], agents: "same" };
        },
        follow(onChange) {
          changed = onChange;
          return { start: () => {}, stop: () => {} };
        },
        onChange: () => {},
        spreadMs,
      });
      watch.start();
      await system.advance(100);
      changed(touched);
      await system.advance(ms);
      await watch.stop();
      return looks;
    };
    expect(await looksAfter(1_000, 0)).to.equal(2);
    expect(await looksAfter(27_000, 30_000)).to.equal(1);
    expect(await looksAfter(28_000, 30_000)).to.equal(2);
  });

  it("asks every five minutes also while one is only another", async () => {
    const { system, looks } = story(["another"]);
    await system.advance(16 * minute);
    expect(looks()).to.equal(4);
  });

  it("is not kept from looking by changes that go on for ever", async () => {
    const { system, looks, changed } = story([undefined]);
    await system.advance(100);
    for (let i = 0; i < 20; i += 1) {
      changed();
      await system.advance(500);
    }
    expect(looks()).to.be.within(8, 11);
  });

  it("says which refuse nothing apart from those that are only others", async () => {
    const { system, watch } = story(["another"]);
    await system.advance(100);
    expect([watch.missing, watch.gone]).to.deep.equal(["another: apply config/policy", undefined]);
  });

  describe("agentsPolicy", () => {
    const agents = "nodevolume-agents";

    it("is not known before the first answer, nor from a change on until it was looked at, and then right since ever", async () => {
      const { system, watch, changed } = story([undefined, new Error("no answer"), undefined]);
      expect(watch.agentsPolicy().wrong).to.contain("not known now");
      await system.advance(100);
      expect(watch.agentsPolicy()).to.deep.equal({ wrong: undefined, rightForMs: Number.POSITIVE_INFINITY });
      changed();
      expect(watch.agentsPolicy().wrong).to.contain("not known now");
      await system.advance(2_000);
      expect(watch.agentsPolicy().wrong, "an error is no answer").to.contain("not known now");
      await system.advance(1.2 * minute);
      expect(watch.agentsPolicy()).to.deep.equal({ wrong: undefined, rightForMs: Number.POSITIVE_INFINITY });
    });

    it("is not known after a look during which something has changed", async () => {
      const system = virtualSystem();
      const answers: ((found: PolicyInspection) => void)[] = [];
      const right = { findings: [], agents: "same" };
      let changed = (_: PolicyChange) => {};
      const watch = createPolicyWatch({
        system,
        look: () => new Promise((resolve) => answers.push(resolve)),
        follow(onChange) {
          changed = onChange;
          return { start: () => {}, stop: () => {} };
        },
        onChange: () => {},
      });
      watch.start();
      changed(touched);
      answers[0]?.(right);
      await system.advance(100);
      expect(watch.agentsPolicy().wrong).to.contain("not known now");
      await system.advance(1_200);
      answers[1]?.(right);
      await system.advance(100);
      expect([answers.length, watch.agentsPolicy().wrong]).to.deep.equal([2, undefined]);
    });

    it("is not known when the last look that said something is seven minutes old, and is told when it is known again", async () => {
      const none = new Error("no answer");
      const { system, watch, known } = story([undefined, ...Array<Error>(8).fill(none), undefined]);
      await system.advance(100);
      expect(known()).to.equal(1);
      await system.advance(6.5 * minute);
      expect(watch.agentsPolicy().wrong, "two looks said nothing").to.equal(undefined);
      await system.advance(minute);
      expect([watch.agentsPolicy().wrong !== undefined, known()]).to.deep.equal([true, 1]);
      await system.advance(8 * minute);
      expect([watch.agentsPolicy().wrong, known()]).to.deep.equal([undefined, 2]);
    });

    it("is not known before any look has said anything, and then that is told once", async () => {
      const { system, watch, known, changed } = story([new Error("no answer"), undefined]);
      await system.advance(100);
      expect([watch.agentsPolicy().wrong !== undefined, known()]).to.deep.equal([true, 0]);
      await system.advance(1.2 * minute);
      expect([watch.agentsPolicy().wrong, known()]).to.deep.equal([undefined, 1]);
      await system.advance(30 * minute);
      expect(known(), "nothing has changed").to.equal(1);
      changed();
      await system.advance(2_000);
      expect(known()).to.equal(2);
    });

    it("says what is wrong with it, also if it is only another, and for how long it has been right since", async () => {
      const { system, watch, changed } = story([agents, undefined]);
      await system.advance(100);
      expect(watch.agentsPolicy().wrong).to.contain(agents);
      changed();
      await system.advance(1_200);
      const { wrong, rightForMs } = watch.agentsPolicy();
      expect(wrong).to.equal(undefined);
      expect(rightForMs).to.be.within(1, 1_000);
      await system.advance(minute);
      expect(watch.agentsPolicy().rightForMs - rightForMs).to.equal(minute);
    });

    it("was wrong for a moment if it was gone and is back by the next look, or others decided between two looks", async () => {
      const { system, watch, changed } = story([undefined]);
      await system.advance(100);
      changed({ name: "nodevolume-pods", decides: true });
      await system.advance(2_000);
      expect(watch.agentsPolicy().rightForMs).to.equal(Number.POSITIVE_INFINITY);
      changed({ name: agents, decides: true });
      await system.advance(2_000);
      expect(watch.agentsPolicy()).to.deep.equal({ wrong: undefined, rightForMs: 2_000 });

      const unwatched = story([undefined], true, (look) => (look < 3 ? "u1/1,u2/1" : "u3/1,u2/1"));
      await unwatched.system.advance(6 * minute);
      expect(unwatched.watch.agentsPolicy().rightForMs).to.equal(Number.POSITIVE_INFINITY);
      await unwatched.system.advance(5 * minute);
      expect(unwatched.watch.agentsPolicy().rightForMs).to.equal(minute);
    });

    it("tells by its looks alone when it is right and was not, or others decided between two looks", async () => {
      const back = story([undefined, agents, new Error("no answer"), `other ${agents}`, undefined]);
      const rights: number[] = [];
      for (let look = 1; look <= 6; look += 1) {
        await back.system.advance(look === 1 ? 100 : 6 * minute);
        rights.push(back.right());
      }
      expect(rights.at(0), "right from the start").to.equal(0);
      expect(rights.at(-1), "once").to.equal(1);
      expect(back.watch.agentsPolicy().wrong).to.equal(undefined);

      const exchanged = story([undefined], true, (look) => (look < 3 ? "u1/1,u2/1" : "u1/1,u3/1"));
      await exchanged.system.advance(6 * minute);
      expect(exchanged.right()).to.equal(0);
      await exchanged.system.advance(30 * minute);
      expect(exchanged.right()).to.equal(1);
    });

    it("has nothing to do with what is wrong with others", async () => {
      const { system, watch, right } = story(["nodevolume-pods", undefined]);
      await system.advance(100);
      expect(watch.agentsPolicy().wrong).to.equal(undefined);
      await system.advance(6 * minute);
      expect(right()).to.equal(0);
    });

    it("is right to who was never started: there are none to look at", () => {
      expect(story([agents], false).watch.agentsPolicy().wrong).to.equal(undefined);
    });
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
