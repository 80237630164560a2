import { expect } from "chai";
import fc from "fast-check";
import type { SetEntry } from "../../../../src/controller/model/projections.ts";
import { counter } from "../counter.ts";
import { setEntry } from "../objects.ts";
import type { OneNode } from "../one-node.ts";
import { oneNode } from "../one-node.ts";

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

describe("laws of compileNode, over random sets on a node", () => {
  /**
   * A world that has a past: it was settled with `before`, in part acknowledged, and then some sets changed to `after`.
   */
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
          const setsOnNode = [...world.setsOnNode().values()];
          seen.count("conflicts", setsOnNode.filter((s) => s.conflicts.length > 0).length);
          seen.count("waits", setsOnNode.filter((s) => s.waitsFor !== undefined).length);
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
        const setsOnNode = world.setsOnNode();
        world.settle(() => false);
        const after = mountsOf(world).map(({ name, path, intent }) => `${intent} ${name} ${path}`);
        for (const mount of before) {
          const state = setsOnNode.get(mount.set)?.state;
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
