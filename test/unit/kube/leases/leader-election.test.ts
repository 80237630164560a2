import { expect } from "chai";
import { createKubeClient } from "../../../../src/kube/client/client.ts";
import type { ApiRequest } from "../../../../src/kube/client/transport.ts";
import {
  createLeaderElection,
  decideLeadership,
  type ObservedLease,
  takeOverMarginMs,
} from "../../../../src/kube/leases/leader-election.ts";
import type { FakeApiServer } from "../../fake-api-server.ts";
import { createFakeApiServer } from "../../fake-api-server.ts";
import type { VirtualSystem } from "../virtual-system.ts";
import { virtualSystem } from "../virtual-system.ts";

describe("decideLeadership", () => {
  const held = (holderIdentity: string, leaseDurationSeconds = 15): ObservedLease => ({
    lease: { metadata: { name: "l" }, spec: { holderIdentity, leaseDurationSeconds } },
    since: 1000,
  });
  const end = 1000 + 15_000 + takeOverMarginMs;
  const cases: [string, ObservedLease, number, object][] = [
    ["creates what is not there", { lease: undefined, since: 0 }, 5, { action: "create" }],
    ["renews its own", held("me"), 1001, { action: "renew" }],
    ["renews its own however old", held("me"), 1_000_000, { action: "renew" }],
    ["takes one that was given back", held("", 1), 1001, { action: "take" }],
    ["waits for another's", held("other"), 1001, { action: "wait", holder: "other", forMs: end - 1001 }],
    ["waits until the margin is over", held("other"), end - 1, { action: "wait", holder: "other", forMs: 1 }],
    ["takes another's after duration and margin", held("other"), end, { action: "take" }],
    ["goes by the holder's own duration", held("other", 60), end, { action: "wait", holder: "other", forMs: 45_000 }],
  ];
  for (const [what, observed, now, expected] of cases) {
    it(what, () => expect(decideLeadership(observed, "me", now)).to.deep.equal(expected));
  }
});

describe("createLeaderElection", () => {
  interface Candidate {
    name: string;
    election: ReturnType<typeof createLeaderElection>;
    /** What goes wrong with this candidate's requests alone. */
    fault: FakeApiServer["fault"];
  }

  function story(...names: string[]) {
    const system = virtualSystem();
    const api = createFakeApiServer(system.timers);
    const events: string[] = [];
    const candidates = names.map((name) => {
      const candidate: Candidate = { name, election: undefined as never, fault: () => undefined };
      const transport = {
        request: (request: ApiRequest) => {
          const fault = candidate.fault(request);
          if (fault !== undefined && "when" in fault && fault.when === "before") {
            return new Promise<never>((_, reject) => system.timers.after(5000, () => reject(new Error("partitioned"))));
          }
          return api.request(request);
        },
        stream: api.stream,
      };
      candidate.election = createLeaderElection({
        system,
        client: createKubeClient({ transport, fieldManager: name }),
        namespace: "n",
        name: "l",
        identity: name,
        onStarted: (unbroken) => events.push(unbroken ? `${name} goes on` : `${name} starts`),
        onStopped: () => events.push(`${name} stops`),
      });
      return candidate;
    });
    const leaders = () => candidates.filter((c) => c.election.isLeader()).map((c) => c.name);
    return { system, api, events, candidates, leaders, take: () => events.splice(0) };
  }

  async function started(s: ReturnType<typeof story>): Promise<[Candidate, Candidate]> {
    const [a, b] = s.candidates as [Candidate, Candidate];
    a.election.start();
    await s.system.advance(100);
    b.election.start();
    await s.system.advance(20_000);
    expect(s.take()).to.deep.equal(["a starts"]);
    expect(s.leaders()).to.deep.equal(["a"]);
    return [a, b];
  }

  /** Advances by `ms`, in steps, and checks that there is never more than one leader. */
  async function watch(system: VirtualSystem, leaders: () => string[], ms: number): Promise<void> {
    for (let gone = 0; gone < ms; gone += 100) {
      await system.advance(100);
      expect(leaders().length, `leaders ${leaders()}`).to.be.at.most(1);
    }
  }

  it("the first candidate leads, and goes on leading", async () => {
    const s = story("a", "b");
    await started(s);
    await watch(s.system, s.leaders, 120_000);
    expect(s.take()).to.deep.equal([]);
  });

  it("a leader that is cut off stops acting before another takes over", async () => {
    const s = story("a", "b");
    const [a] = await started(s);
    a.fault = () => ({ when: "before" });
    await watch(s.system, s.leaders, 60_000);
    expect(s.take()).to.deep.equal(["a stops", "b starts"]);
    a.fault = () => undefined;
    await watch(s.system, s.leaders, 30_000);
    expect(s.leaders()).to.deep.equal(["b"]);
  });

  it("a leader whose Lease was late goes on if nobody else has led, and begins anew otherwise", async () => {
    const s = story("a", "b");
    const [a, b] = s.candidates as [Candidate, Candidate];
    const away = { when: "before" } as const;
    a.election.start();
    await s.system.advance(1_000);
    a.fault = () => away;
    await s.system.advance(60_000);
    a.fault = () => undefined;
    await s.system.advance(10_000);
    expect(s.take(), "nobody there").to.deep.equal(["a starts", "a stops", "a goes on"]);
    a.fault = () => away;
    b.election.start();
    await watch(s.system, s.leaders, 40_000);
    a.fault = () => undefined;
    const stopping = b.election.stop();
    await watch(s.system, s.leaders, 20_000);
    await stopping;
    expect(s.take(), "b had it").to.deep.equal(["a stops", "b starts", "b stops", "a starts"]);
    a.fault = () => away;
    await s.system.advance(20_000);
    s.api.remove("leases", "n/l");
    a.fault = () => undefined;
    await s.system.advance(10_000);
    expect(s.take(), "another Lease").to.deep.equal(["a stops", "a starts"]);
  });

  it("isLeader is false at the deadline even if no timer ran", async () => {
    const system = virtualSystem();
    const api = createFakeApiServer(system.timers);
    let now = 0;
    const election = createLeaderElection({
      system: { ...system, clock: { now: () => now, monotonic: () => now } },
      client: createKubeClient({ transport: api, fieldManager: "a" }),
      namespace: "n",
      name: "l",
      identity: "a",
      onStarted: () => {},
      onStopped: () => {},
    });
    election.start();
    await system.advance(100);
    expect([election.isLeader(), election.remainingMs()]).to.deep.equal([true, 15_000]);
    now = 9_999;
    expect(election.isLeader()).to.equal(true);
    now = 10_000;
    expect([election.isLeader(), election.remainingMs()]).to.deep.equal([false, 0]);
  });

  it("stops acting when the wall clock alone has gone on, as in a machine that slept, and goes on when it has renewed", async () => {
    const system = virtualSystem();
    const api = createFakeApiServer(system.timers);
    let slept = 0;
    const events: string[] = [];
    const { clock } = system;
    const election = createLeaderElection({
      system: { ...system, clock: { now: () => clock.now() + slept, monotonic: clock.monotonic } },
      client: createKubeClient({ transport: api, fieldManager: "a" }),
      namespace: "n",
      name: "l",
      identity: "a",
      onStarted: (unbroken) => events.push(unbroken ? "goes on" : "starts"),
      onStopped: () => events.push("stops"),
    });
    election.start();
    await system.advance(100);
    slept = 9_000;
    expect(election.remainingMs()).to.be.within(5_800, 6_000);
    slept = 10_000;
    expect([election.isLeader(), election.remainingMs()]).to.deep.equal([false, 0]);
    await system.advance(3_000);
    expect([election.isLeader(), events]).to.deep.equal([true, ["starts", "stops", "goes on"]]);
    slept = -60_000;
    expect(election.isLeader(), "a clock that was set back").to.equal(true);
  });

  it("counts from when a renewal was sent, not from when it was answered", async () => {
    const s = story("a");
    const { request } = s.api;
    s.api.request = async (r) => {
      const answer = await request(r);
      if (r.method !== "GET") await new Promise<void>((resolve) => s.system.timers.after(3_000, resolve));
      return answer;
    };
    s.candidates[0]?.election.start();
    await s.system.advance(3_010);
    expect(s.leaders()).to.deep.equal(["a"]);
    expect(s.candidates[0]?.election.remainingMs()).to.be.within(11_900, 12_000);
  });

  it("a leader whose renewal came through unanswered goes on leading", async () => {
    const s = story("a", "b");
    const [a] = await started(s);
    let lost = 1;
    const { request } = s.api;
    s.api.request = (r) => {
      const answer = request(r);
      lost -= r.method === "PUT" ? 1 : 0;
      return r.method === "PUT" && lost === 0 ? answer.then(() => Promise.reject(new Error("lost"))) : answer;
    };
    await watch(s.system, s.leaders, 30_000);
    expect(s.take()).to.deep.equal([]);
    expect(a.election.isLeader()).to.equal(true);
  });

  it("a leader steps down at once when somebody else has taken the lease", async () => {
    const s = story("a", "b");
    await started(s);
    const lease = s.api.object("leases", "n/l");
    s.api.patch("leases", "n/l", { spec: { ...(lease?.spec as object), holderIdentity: "somebody" } });
    await s.system.advance(3_000);
    expect(s.take()).to.deep.equal(["a stops"]);
  });

  it("stop gives the lease back, so that the next candidate need not wait", async () => {
    const s = story("a", "b");
    const [a] = await started(s);
    const stopping = a.election.stop();
    await s.system.advance(100);
    await stopping;
    await watch(s.system, s.leaders, 3_000);
    expect(s.take()).to.deep.equal(["a stops", "b starts"]);
    expect(s.system.pendingTimers).to.be.greaterThan(0);
  });

  it("a candidate that is restarted under the same identity must not wait, another must", async () => {
    const s = story("a", "b");
    const [a] = await started(s);
    a.fault = () => ({ when: "before" });
    await s.system.advance(11_000);
    a.fault = () => undefined;
    await s.system.advance(8_000);
    expect(s.take()).to.deep.equal(["a stops", "a goes on"]);
  });
});
