import { expect } from "chai";
import fc from "fast-check";
import type { SetEntry } from "../../../src/controller/projections.ts";
import { decideRollout, unavailableLimit } from "../../../src/controller/rollout.ts";
import { node, setEntry, settledStatus } from "./objects.ts";
import type { OneNode } from "./one-node.ts";
import { oneNode } from "./one-node.ts";

/** Paths that overlap in every way: equal, nested both ways, and alike only in the beginning of their names. */
const paths = ["x", "x/y", "x/y/z", "x-1", "w", "w/v"].map((path) => `/mnt/nodevolume/${path}`);
const sources = [{ hostPath: { path: "/data/1" } }, { hostPath: { path: "/data/2" } }, { emptyDir: {} }];

interface Choice {
  source: number;
  paths: string[];
  timeoutSeconds: number;
  kind: "fine" | "invalid" | "deleted" | "missing" | "unfinalized" | "deselected";
}

const choice = fc.record<Choice>({
  source: fc.nat(sources.length - 1),
  paths: fc.uniqueArray(fc.constantFrom(...paths), { maxLength: 2 }),
  timeoutSeconds: fc.constantFrom(90, 90, 90, 5),
  kind: fc.constantFrom("fine", "fine", "fine", "fine", "invalid", "deleted", "missing", "unfinalized", "deselected"),
});
const names = ["a", "b", "c", "d"];
const choices = fc.tuple(choice, choice, choice, choice);

function setsOf(chosen: readonly Choice[]): SetEntry[] {
  return chosen.flatMap(({ source, paths: own, timeoutSeconds, kind }, i) => {
    if (kind === "missing") return [];
    // The CRD refuses a set whose own paths are nested.
    const [first, second] = own;
    const nested = first !== undefined && second !== undefined && overlap(first, second);
    const mounts = (nested ? own.slice(0, 1) : own).map((path, m) => ({ name: `m${m}`, path }));
    const spec = {
      volume: { source: sources[source] ?? {} },
      mounts,
      unmountPolicy: { max: "Normal" as const, timeoutSeconds },
      ...(kind === "invalid" ? { future: true } : {}),
      nodeSelector: kind === "deselected" ? { no: "where" } : {},
    };
    const finalizers = kind === "unfinalized" ? [] : ["nodevolume.dev/unmount"];
    return [setEntry(names[i] ?? "", { created: names.length - i, spec, finalizers, deleted: kind === "deleted" })];
  });
}

function overlap(a: string, b: string): boolean {
  return a === b || a.startsWith(`${b}/`) || b.startsWith(`${a}/`);
}

function live(world: OneNode) {
  return world.intents().filter(({ metadata }) => metadata.deletionTimestamp === undefined);
}

function mountsOf(world: OneNode) {
  return live(world).flatMap(({ metadata, spec }) =>
    spec.mounts.map((mount) => ({
      intent: metadata.name,
      set: mount.requester.name,
      path: mount.path,
      name: mount.name,
    })),
  );
}

/** How often a state was reached: a law that passes because its case never occurs is none. */
function counter() {
  const counts = new Map<string, number>();
  return {
    count: (what: string, times = 1) => counts.set(what, (counts.get(what) ?? 0) + times),
    of: (what: string) => counts.get(what) ?? 0,
    toString: () => [...counts].map(([what, n]) => `${what} ${n}`).join(", "),
  };
}

describe("laws of compileNode, over random sets on a node", () => {
  /** A world that has a past: it was settled with `before`, in part acknowledged, and then some sets changed to `after`. */
  const history = fc
    .record({
      before: choices,
      after: choices,
      changed: fc.tuple(fc.boolean(), fc.boolean(), fc.boolean(), fc.boolean()),
      acknowledged: fc.boolean(),
      admitted: fc.constantFrom("", "a", "abcd"),
    })
    .map(({ before, after, changed, ...rest }) => {
      const past = before.map((c) => ({ ...c, kind: "fine" as const }));
      return { ...rest, before: past, after: past.map((c, i) => (changed[i] === true ? (after[i] ?? c) : c)) };
    });

  function worldOf({
    before,
    after,
    acknowledged,
  }: {
    before: Choice[];
    after: Choice[];
    acknowledged: boolean;
  }): OneNode {
    const world = oneNode(setsOf(before));
    world.settle();
    if (acknowledged) world.agent();
    world.sets = setsOf(after);
    return world;
  }

  it("settle: a few passes, then nothing more is written; agents that follow let everything come to rest", () => {
    const seen = counter();
    fc.assert(
      fc.property(history, (h) => {
        const world = worldOf(h);
        for (let round = 0; round < 6; round += 1) {
          seen.count("writes", world.settle((set) => h.admitted.includes(set)).length);
          world.agent();
        }
        expect(world.settle((set) => h.admitted.includes(set))).to.deep.equal([]);
      }),
      { numRuns: 300 },
    );
    expect(seen.of("writes"), String(seen)).to.be.greaterThan(100);
  });

  it("do not depend on the order of sets and intents", () => {
    fc.assert(
      fc.property(history, fc.infiniteStream(fc.nat(1000)), (h, randoms) => {
        const world = worldOf(h);
        const expected = world.writes((set) => h.admitted.includes(set));
        const shuffle = <T>(list: readonly T[]) =>
          list
            .map((entry) => ({ entry, at: randoms.next().value ?? 0 }))
            .sort((x, y) => x.at - y.at)
            .map(({ entry }) => entry);
        const intents = world.intents();
        const shuffled: OneNode = { ...world, sets: shuffle(world.sets), intents: () => shuffle(intents) };
        const input = { ...world.input(), sets: shuffle(world.sets), intents: shuffle(intents) };
        world.input = () => input;
        world.intents = shuffled.intents;
        expect(world.writes((set) => h.admitted.includes(set))).to.have.deep.members(expected);
      }),
      { numRuns: 300 },
    );
  });

  it("no two sets ever have overlapping paths in intents that are in force", () => {
    const seen = counter();
    fc.assert(
      fc.property(history, (h) => {
        const world = worldOf(h);
        for (let step = 0; step < 8; step += 1) {
          const written = world.pass((set) => h.admitted.includes(set));
          const mounts = mountsOf(world);
          for (const [i, a] of mounts.entries()) {
            for (const b of mounts.slice(i + 1)) {
              if (a.set !== b.set && overlap(a.path, b.path)) throw new Error(`${a.set} ${a.path}, ${b.set} ${b.path}`);
            }
          }
          const stakes = [...world.stakes().values()];
          seen.count("conflicts", stakes.filter((s) => s.conflicts.length > 0).length);
          seen.count("waits", stakes.filter((s) => s.waitsFor !== undefined).length);
          if (written.length === 0) world.agent();
        }
      }),
      { numRuns: 400 },
    );
    expect(Math.min(seen.of("conflicts"), seen.of("waits")), String(seen)).to.be.greaterThan(0);
  });

  it("nothing shrinks that nobody has given up: an absent Node, a set that is gone, not understood or held", () => {
    const seen = counter();
    fc.assert(
      fc.property(history, fc.boolean(), (h, absent) => {
        const world = worldOf(h);
        if (absent) world.node = undefined;
        const before = mountsOf(world);
        const stakes = world.stakes();
        world.settle(() => false);
        const after = mountsOf(world).map(({ name, path, intent }) => `${intent} ${name} ${path}`);
        for (const mount of before) {
          const state = stakes.get(mount.set)?.state;
          seen.count(String(state));
          if (state === "leaving") continue;
          expect(after).to.include(`${mount.intent} ${mount.name} ${mount.path}`);
        }
      }),
      { numRuns: 300 },
    );
    for (const state of ["frozen", "outdated", "current", "leaving"]) {
      expect(seen.of(state), `${state} of ${seen}`).to.be.greaterThan(0);
    }
  });

  it("a grant is never exchanged, and every managing intent has one", () => {
    fc.assert(
      fc.property(history, (h) => {
        const world = worldOf(h);
        const grants = new Map(world.intents().map(({ metadata, spec }) => [metadata.uid, spec.grant?.id]));
        world.settle();
        for (const { metadata, spec } of world.intents()) {
          expect(spec.grant?.id).to.be.a("string");
          if (grants.has(metadata.uid)) expect(spec.grant?.id).to.equal(grants.get(metadata.uid));
        }
      }),
      { numRuns: 200 },
    );
  });
});

describe("laws of decideRollout, over random fleets", () => {
  const spec = (version: number) => ({ mounts: [{ name: "host", path: `/mnt/nodevolume/v${version}` }] });
  type Step = { node: number; what: "observe" | "ready" | "blocked" | "silent" };
  const step = fc.record<Step>({
    node: fc.nat(5),
    what: fc.constantFrom("observe", "ready", "ready", "blocked", "blocked", "silent"),
  });
  const fleet = fc.record({
    size: fc.integer({ min: 1, max: 6 }),
    maxUnavailable: fc.oneof(fc.integer({ min: 1, max: 3 }), fc.constantFrom("1%", "34%", "50%")),
    pauseOnFailure: fc.boolean(),
    steps: fc.array(step, { minLength: 8, maxLength: 20 }),
    changeAt: fc.nat(3),
  });

  it("no update makes more nodes unavailable than allowed, and all come to have the newest spec", () => {
    const seen = counter();
    fc.assert(
      fc.property(fleet, ({ size, maxUnavailable, pauseOnFailure, steps, changeAt }) => {
        let version = 1;
        const policy = { maxUnavailable, pauseOnFailure };
        const versions = [0, 1, 2].map((v) => setEntry("a", { spec: { ...spec(v), rollout: policy } }));
        const set = () => versions[version] ?? setEntry("a");
        const worlds = Array.from({ length: size }, (_, i) => oneNode([set()], `n${i}`));
        const limit = unavailableLimit(policy, size);
        const members = () =>
          worlds.flatMap((world) => [...world.stakes().values()].map((stake) => ({ node: world.name, stake })));
        const isUp = (world: OneNode) =>
          [...world.stakes().values()].every((s) => s.availability.state === "available");

        /** The controller looks once: decides the rollout, then writes the nodes in any order. */
        const control = () => {
          const { admitted, pausedBy } = decideRollout(policy, members(), new Set());
          if (pausedBy !== undefined) seen.count("paused");
          for (const world of worlds) {
            const wasUp = isUp(world) && world.intents().length > 0;
            const written = world.pass(() => admitted.has(world.name));
            if (written.length === 0 || !wasUp) continue;
            seen.count("updates");
            const down = worlds.filter((w) => !isUp(w)).length;
            expect(down, `down after the update of ${world.name}`).to.be.at.most(limit);
          }
        };
        const agent = (world: OneNode, what: Step["what"]) => {
          for (const intent of world.intents()) {
            const blocked = { type: "Ready", status: "False" as const, reason: "SourceNotFound", message: "m" };
            const status =
              what === "blocked"
                ? settledStatus(intent, { conditions: [{ ...blocked, lastTransitionTime: "2024-01-01T00:00:00Z" }] })
                : settledStatus(intent, what === "observe" ? { conditions: [] } : {});
            if (what !== "silent") world.change(intent.metadata.name, (i) => Object.assign(i, { status }));
          }
        };

        for (const world of worlds) {
          world.settle();
          world.agent();
        }
        steps.forEach((s, at) => {
          if (at === changeAt) {
            version += 1;
            for (const world of worlds) world.sets = [set()];
          }
          control();
          const world = worlds[s.node % size];
          if (world !== undefined) agent(world, s.what);
          control();
        });
        // From here on all is well: whatever was blocked is mended, and everything becomes ready.
        for (let round = 0; round < 3 * size + 3; round += 1) {
          for (const world of worlds) world.agent();
          control();
        }
        for (const world of worlds) {
          expect(world.intents().map((i) => i.spec.mounts[0]?.path)).to.deep.equal([`/mnt/nodevolume/v${version}`]);
        }
      }),
      { numRuns: 60 },
    );
    expect(Math.min(seen.of("updates"), seen.of("paused")), String(seen)).to.be.greaterThan(0);
  });
});

describe("laws of the fixtures", () => {
  it("a node that is settled and acknowledged is available", () => {
    const world = oneNode([setEntry("a")]);
    world.settle();
    world.agent();
    world.node = node("n1");
    expect(world.stakes().get("a")?.availability.state).to.equal("available");
  });
});
