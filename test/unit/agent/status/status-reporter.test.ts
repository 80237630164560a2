import { expect } from "chai";
import { statusOf } from "../../../../src/agent/status/intent-status.ts";
import { isOfAttempts } from "../../../../src/agent/status/status-reporter.ts";
import { ApiError } from "../../../../src/kube/client/api-error.ts";
import {
  mounted,
  planWorld,
  record,
  staged,
  targetRecord,
  volume,
  type World,
  wanted,
} from "../../../lib/builders/plan-world.ts";
import { reportStory as story } from "../report-story.ts";

describe("Reporter", () => {
  it("has what it wrote read anew where a write, or the read after it, has no answer", async () => {
    const lost = new Error("no answer");
    const of = (status: number) => new ApiError(status, "Planned", "planned");
    const cases: readonly (readonly [Error, Error | undefined, boolean])[] = [
      [lost, undefined, true],
      [of(500), undefined, true],
      [of(503), undefined, true],
      [of(409), undefined, false],
      [of(409), lost, true],
      [of(403), undefined, false],
    ];
    for (const [refuses, mute, isDoubted] of cases) {
      const { server, fail, doubted } = story();
      Object.assign(server, { refuses, mute });
      await fail(1);
      expect(doubted.length > 0, `${refuses.message} ${mute?.message}`).to.equal(isDoubted);
    }
  });

  it("writes changes of nothing but attempts about once a minute", async () => {
    const { server, fail, store } = story();
    for (let i = 0; i < 600; i += 1) await fail(1);
    expect(server.writes).to.be.within(9, 15);
    expect(store.get(volume)?.raw.status?.waiting?.attempts).to.be.greaterThan(500);
  });

  it("writes anything else at once, with what the attempts are by then", async () => {
    const { server, fail, reporter, system, store } = story();
    for (let i = 0; i < 10; i += 1) await fail(1);
    const before = server.writes;
    const unreadable = planWorld({
      intents: [wanted()],
      mounts: "unreadable",
      input: { now: system.clock.monotonic() },
    });
    reporter.planned(unreadable);
    await system.advance(250);
    expect(server.writes).to.equal(before + 1);
    expect(store.get(volume)?.raw.status?.waiting?.reason).not.to.equal("SetUpFailed");
  });

  it("does not hurry a write that is refused, but for another spec", async () => {
    const { server, fail, show } = story();
    server.refuses = new ApiError(422, "Invalid", "no");
    for (let i = 0; i < 600; i += 1) await fail(0.1);
    expect(server.writes, "in a minute").to.be.below(12);
    const before = server.writes;
    const other = wanted({ generation: 2 });
    show(other);
    await fail(0.3, other);
    expect(server.writes).to.equal(before + 1);
  });

  it("a node that was made anew: says in the log, and in the probe until it is over, what to do", async () => {
    const { server, fail, healthChecks, system } = story();
    server.refuses = new ApiError(403, "Forbidden", "nodeUID is another");
    for (let i = 0; i < 10; i += 1) await fail(1);
    expect(healthChecks.notReady()).to.match(/delete the agent's pod.*nodeUID is another/);
    expect(system.lines.filter((line) => line.level === "error")).to.have.length(1);
    server.refuses = undefined;
    for (let i = 0; i < 60; i += 1) await fail(1);
    expect(healthChecks.notReady()).to.equal(undefined);
  });

  it("after an outage does not wait for the retry", async () => {
    const { server, fail, store, system, reached } = story();
    server.refuses = new Error("no answer");
    for (let i = 0; i < 300; i += 1) await fail(1);
    const before = server.writes;
    for (const connected of [false, true]) store.setConnected(connected); // an intent could not be read for a while
    await system.advance(250);
    expect(server.writes, "while nothing is reached").to.equal(before);
    server.refuses = undefined;
    reached();
    await system.advance(250);
    expect(server.writes, "without another plan").to.equal(before + 1);
  });

  it("writes nothing of a set-up that passes, and at once that it is done", async () => {
    const { server, reporter, system, store } = story();
    const update = (world: World) => reporter.planned(planWorld({ intents: [wanted()], ...world }));
    update({});
    await system.advance(900);
    expect(server.writes, "while it is staged").to.equal(0);
    const { mountID: _, ...notYetNoted } = targetRecord();
    update({ ...done, records: [record({ targets: [notYetNoted] })] });
    await system.advance(50);
    expect(server.writes, "while the operation ends").to.equal(0);
    update(done);
    await system.advance(0);
    expect(server.writes).to.equal(1);
    expect(store.get(volume)?.raw.status?.state).to.equal("Mounted");
    await system.advance(5_000);
    expect(server.writes, "in the end").to.equal(1);
  });

  it("after a start of the agent writes what has changed, and nothing else, but after a reboot", async () => {
    for (const [bootID, writes] of [
      ["b", 0],
      ["the boot before", 1],
    ] as const) {
      const { server, reporter, system, store, show } = story({ epoch: 2 });
      const of = { agent: { bootID, epoch: 1 }, now: system.clock.now() };
      const plan = planWorld({ intents: [wanted()], ...done });
      const status = statusOf(wanted(), plan.volumes.get(volume) ?? expect.fail("no volume"), of);
      const mounts = status.mounts?.map((mount) => ({ ...mount, mountID: "1234" })); // in the container of before
      show({ ...wanted(), status: { ...status, ...(mounts && { mounts }) } });
      reporter.planned(plan);
      await system.advance(5_000);
      expect(server.writes, bootID).to.equal(writes);
      reporter.planned(planWorld({ ...done, mounts: [], intents: [wanted()] }));
      await system.advance(250);
      expect(server.writes, bootID).to.equal(writes + 1);
      expect(store.get(volume)?.raw.status?.agent).to.deep.equal({ bootID: "b", epoch: 2 });
    }
  });

  it("writes a set-up that lasts, and within the usual time that what was ready no longer is", async () => {
    const { server, reporter, system, store } = story();
    const update = (world: World) => reporter.planned(planWorld({ intents: [wanted()], ...world }));
    update({});
    await system.advance(1_100);
    expect(store.get(volume)?.raw.status?.state).to.equal("Staging");
    update(done);
    await system.advance(0);
    expect(server.writes).to.equal(2);
    reporter.planned(planWorld({ ...done, mounts: [], intents: [wanted()] }));
    await system.advance(250);
    expect(server.writes).to.equal(3);
    expect(store.get(volume)?.raw.status?.conditions?.find(({ type }) => type === "Ready")?.status).to.equal("False");
  });

  it("says within the usual time that what was ready is being released", async () => {
    const { server, reporter, system, store, show } = story();
    reporter.planned(planWorld({ intents: [wanted()], ...done }));
    await system.advance(0);
    const { status } = store.get(volume)?.raw ?? expect.fail("no intent");
    const revoked = { ...wanted({ deleting: true, generation: 2 }), status };
    show(revoked);
    reporter.planned(planWorld({ ...done, intents: [revoked] }));
    await system.advance(250);
    expect(server.writes).to.equal(2);
    expect(store.get(volume)?.raw.status?.state).to.equal("Unmounting");
  });

  it("is settled a moment after the last write, so that nothing comes between those of a burst", async () => {
    const { server, fail, reporter, system } = story();
    await fail(0.25);
    expect(server.writes).to.equal(1);
    let settled = 0;
    void reporter.settled().then(() => settled++);
    await system.advance(100);
    expect(settled, "written 150 ms ago").to.equal(0);
    await system.advance(100);
    expect(settled).to.equal(1);
    void reporter.settled().then(() => settled++);
    await system.advance(0);
    expect(settled, "at once when nothing was written for a while").to.equal(2);
  });

  it("takes only what changed in a plan", async () => {
    const { server, reporter, system } = story();
    const plan = planWorld({ intents: [wanted()], ...done });
    reporter.planned({ ...plan, changed: new Map() });
    await system.advance(5_000);
    expect(server.writes).to.equal(0);
    reporter.planned(plan);
    await system.advance(0);
    expect(server.writes).to.equal(1);
  });
});

/** All of the volume is set up. */
const done: World = { records: [record()], mounts: [staged, mounted] };

describe("isOfAttempts", () => {
  it("is true of times and counts alone", () => {
    expect(isOfAttempts({ waiting: { attempts: 2, nextRetryTime: "t" }, lastError: { time: "t" } })).to.equal(true);
    for (const more of [
      { waiting: { reason: "Busy" } },
      { waiting: null },
      { lastError: { message: "m" } },
      { inUse: true },
    ]) {
      expect(isOfAttempts({ waiting: { attempts: 2 }, ...more }), JSON.stringify(more)).to.equal(false);
    }
  });
});
