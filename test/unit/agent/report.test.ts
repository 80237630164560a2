import { expect } from "chai";
import type { Failure } from "../../../src/agent/failures.ts";
import { slotOf } from "../../../src/agent/failures.ts";
import { type IntentEntry, understand } from "../../../src/agent/intents.ts";
import { isOfAttempts, Reporter } from "../../../src/agent/report.ts";
import { Vitals } from "../../../src/agent/vitals.ts";
import type { NodeVolumeIntent } from "../../../src/api/types.gen.ts";
import { ApiError } from "../../../src/kube/api-error.ts";
import type { KubeClient } from "../../../src/kube/client.ts";
import { createObjectStore } from "../../../src/kube/object-store.ts";
import type { Reflector } from "../../../src/kube/reflector.ts";
import { mounted, planWorld, record, staged, targetRecord, volume, type World, wanted } from "../../lib/plan-world.ts";
import { virtualSystem } from "../kube/virtual-system.ts";

/** JSON merge patch (RFC 7386). */
function merged(before: unknown, patch: unknown): unknown {
  if (typeof patch !== "object" || patch === null || Array.isArray(patch)) return patch;
  const out: { [key: string]: unknown } = { ...(before as object) };
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete out[key];
    else out[key] = merged(out[key], value);
  }
  return out;
}

/** A reporter whose API server takes every status, or refuses as it is told to. */
function story() {
  const system = virtualSystem();
  const vitals = new Vitals(system.clock);
  for (const need of ["lock", "journal", "intents"] as const) vitals.missing(need, undefined);
  const store = createObjectStore<IntentEntry>({ clock: system.clock, log: system.log });
  let version = 1;
  const show = (intent: NodeVolumeIntent) => {
    version += 1;
    const entry = understand({ ...intent, metadata: { ...intent.metadata, resourceVersion: String(version) } });
    if (entry !== undefined) store.upsert(entry);
  };
  const server = { writes: 0, refuses: undefined as Error | undefined };
  // Only what the reporter calls.
  const client = {
    mergePatchStatus: async (_resource: unknown, _ref: unknown, patch: object) => {
      server.writes += 1;
      if (server.refuses !== undefined) throw server.refuses;
      const { raw } = store.get(volume) ?? expect.fail("no intent");
      show({ ...raw, status: merged(raw.status, patch) as NodeVolumeIntent["status"] });
      return undefined;
    },
    get: async () => undefined,
  } as unknown as KubeClient;
  const intents = { store, upsertIfNewer: () => {} } as unknown as Reflector<IntentEntry>;
  const reporter = new Reporter({ system, client, intents, agent: { bootID: "b", epoch: 1 }, vitals });
  let attempts = 0;
  /** The volume's staging fails once more, `seconds` later, and the reporter is told. */
  const fail = async (seconds: number, intent = wanted()) => {
    attempts += 1;
    const now = system.clock.monotonic();
    const failure: Failure = {
      kind: "stage",
      generation: intent.metadata.generation ?? 1,
      reason: "SetUpFailed",
      errorClass: "transient",
      message: "no",
      attempts,
      firstAt: 0,
      nextAt: now + 1e9,
      time: system.clock.now(),
      nextTime: system.clock.now() + 1e9,
    };
    const failures = new Map([[slotOf({ kind: "stage", volume }), failure]]);
    reporter.update(planWorld({ intents: [intent], failures, input: { now } }));
    await system.advance(seconds * 1_000);
  };
  show(wanted());
  return { system, vitals, server, reporter, fail, show, store };
}

describe("Reporter", () => {
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
    reporter.update(unreadable);
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
    const { server, fail, vitals, system } = story();
    server.refuses = new ApiError(403, "Forbidden", "nodeUID is another");
    for (let i = 0; i < 10; i += 1) await fail(1);
    expect(vitals.notReady()).to.match(/delete the agent's pod.*nodeUID is another/);
    expect(system.lines.filter((line) => line.level === "error")).to.have.length(1);
    server.refuses = undefined;
    for (let i = 0; i < 60; i += 1) await fail(1);
    expect(vitals.notReady()).to.equal(undefined);
  });

  it("after an outage does not wait for the retry", async () => {
    const { server, fail, store, system } = story();
    store.setConnected(false);
    server.refuses = new Error("no answer");
    for (let i = 0; i < 300; i += 1) await fail(1);
    const before = server.writes;
    server.refuses = undefined;
    store.setConnected(true);
    await system.advance(250);
    expect(server.writes, "without another plan").to.equal(before + 1);
  });

  it("writes nothing of a set-up that passes, and at once that it is done", async () => {
    const { server, reporter, system, store } = story();
    const update = (world: World) => reporter.update(planWorld({ intents: [wanted()], ...world }));
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

  it("writes a set-up that lasts, and within the usual time that what was ready no longer is", async () => {
    const { server, reporter, system, store } = story();
    const update = (world: World) => reporter.update(planWorld({ intents: [wanted()], ...world }));
    update({});
    await system.advance(1_100);
    expect(store.get(volume)?.raw.status?.state).to.equal("Staging");
    update(done);
    await system.advance(0);
    expect(server.writes).to.equal(2);
    reporter.update(planWorld({ ...done, mounts: [], intents: [wanted()] }));
    await system.advance(250);
    expect(server.writes).to.equal(3);
    expect(store.get(volume)?.raw.status?.conditions?.find(({ type }) => type === "Ready")?.status).to.equal("False");
  });

  it("says within the usual time that what was ready is being released", async () => {
    const { server, reporter, system, store, show } = story();
    reporter.update(planWorld({ intents: [wanted()], ...done }));
    await system.advance(0);
    const { status } = store.get(volume)?.raw ?? expect.fail("no intent");
    const revoked = { ...wanted({ deleting: true, generation: 2 }), status };
    show(revoked);
    reporter.update(planWorld({ ...done, intents: [revoked] }));
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
    reporter.update({ ...plan, changed: new Map() });
    await system.advance(5_000);
    expect(server.writes).to.equal(0);
    reporter.update(plan);
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
