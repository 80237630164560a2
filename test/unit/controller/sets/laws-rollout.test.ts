import { expect } from "chai";
import fc from "fast-check";
import type { RolloutPolicy } from "../../../../src/api/types.gen.ts";
import { decideRollout, unavailableLimit } from "../../../../src/controller/sets/rollout.ts";
import { counter } from "../counter.ts";
import { setEntry, settledStatus } from "../objects.ts";
import type { OneNode } from "../one-node.ts";
import { oneNode } from "../one-node.ts";

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
    onFailure: fc.constantFrom<RolloutPolicy["onFailure"]>("Pause", "Continue"),
    steps: fc.array(step, { minLength: 8, maxLength: 20 }),
    changeAt: fc.nat(3),
  });

  it("no update makes more nodes unavailable than allowed, and all come to have the newest spec", function () {
    this.timeout(60_000); // thousands of fleets, on a machine that others use
    const seen = counter();
    fc.assert(
      fc.property(fleet, ({ size, maxUnavailable, onFailure, steps, changeAt }) => {
        let version = 1;
        const policy = { maxUnavailable, onFailure };
        const versions = [0, 1, 2].map((v) => setEntry("a", { spec: { ...spec(v), rollout: policy } }));
        const set = () => versions[version] ?? setEntry("a");
        const worlds = Array.from({ length: size }, (_, i) => oneNode([set()], `n${i}`));
        const limit = unavailableLimit(policy, size);
        const members = () =>
          worlds.flatMap((world) => [...world.setsOnNode().values()].map((onNode) => ({ node: world.name, onNode })));
        const isUp = (world: OneNode) =>
          [...world.setsOnNode().values()].every((s) => s.availability.state === "available");

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
