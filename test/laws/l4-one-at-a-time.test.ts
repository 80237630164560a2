import { isDeepStrictEqual } from "node:util";
import { isInvalid } from "../../src/agent/model/desired.ts";
import type { VolumeName } from "../../src/agent/model/identities.ts";
import type { PlanInput } from "../../src/agent/model/plan-input.ts";
import { plan } from "../lib/builders/plan-whole.ts";
import { law } from "./law.ts";
import { buildWorld } from "./worlds/build.ts";
import { told } from "./worlds/evidence.ts";
import { overlap } from "./worlds/paths.ts";
import { worldChoices } from "./worlds/random-worlds.ts";

describe("L4: one operation a volume, and volumes do not wait for each other", () => {
  law("a volume gets one operation at most, and none while one is in flight", {
    worlds: worldChoices,
    runs: 1500,
    reaches: ["in flight, with something to do", "child, with something to do", "several volumes at once"],
    check(choice, reached) {
      const { input } = buildWorld(choice);
      const { operations } = plan(input);
      const names = operations.map(({ volume }) => volume);
      if (new Set(names).size < names.length) throw new Error(`two operations for one volume: ${told(operations)}`);
      const second = operations.find(({ volume }) => input.pendingOperations.has(volume));
      if (second !== undefined) throw new Error(`in flight already: ${told([second])}`);
      reached.count("several volumes at once", operations.length > 1);
      const free = plan({ ...input, pendingOperations: new Map() }).operations.map(({ volume }) => volume);
      const held = free.filter((name) => input.pendingOperations.has(name));
      reached.count("in flight, with something to do", held.length > 0);
      reached.count(
        "child, with something to do",
        held.some((name) => input.records.get(name)?.child !== undefined),
      );
    },
  });

  law("what goes on with other volumes, on other paths, changes nothing for a volume", {
    worlds: worldChoices,
    runs: 1500,
    reaches: ["others taken away", "an operation beside others"],
    check(choice, reached) {
      const { input } = buildWorld(choice);
      const whole = plan(input).volumes;
      for (const [name, volume] of whole) {
        const own = pathsOf(name, input);
        const far = [...whole.keys()].filter(
          (other) => other !== name && !pathsOf(other, input).some((a) => own.some((b) => overlap(a, b))),
        );
        if (far.length === 0) continue;
        reached.count("an operation beside others", volume.operation !== undefined);
        const alone = plan(without(input, far)).volumes.get(name);
        reached.count("others taken away");
        if (!isDeepStrictEqual(alone, volume)) throw new Error(`${name} depends on ${far.join(" and ")}`);
      }
    },
  });

  law("an operation in flight holds up no other volume, whatever its path", {
    worlds: worldChoices,
    runs: 1000,
    reaches: ["others busy", "others on the same path"],
    check(choice, reached) {
      const { input } = buildWorld(choice);
      const whole = plan(input).volumes;
      for (const [name, volume] of whole) {
        const others = [...whole.keys()].filter((other) => other !== name);
        const own = input.pendingOperations.get(name);
        const pendingOperations = new Map(others.map((other) => [other, "stage" as const]));
        const busy = plan({
          ...input,
          pendingOperations: own === undefined ? pendingOperations : new Map([...pendingOperations, [name, own]]),
        });
        reached.count("others busy", others.length > 0 && volume.operation !== undefined);
        reached.count(
          "others on the same path",
          others.some((other) => pathsOf(other, input).some((a) => pathsOf(name, input).some((b) => overlap(a, b)))),
        );
        if (!isDeepStrictEqual(busy.volumes.get(name), volume)) throw new Error(`${name} waits for others`);
      }
    },
  });

  law("the order in which volumes are listed decides nothing", {
    worlds: worldChoices,
    runs: 1000,
    reaches: ["several operations"],
    check(choice, reached) {
      const { input } = buildWorld(choice);
      const { operations } = plan(input);
      const other = plan({
        ...input,
        desired: new Map([...input.desired].reverse()),
        records: new Map([...input.records].reverse()),
      }).operations;
      reached.count("several operations", operations.length > 1);
      const byName = (all: typeof operations) => all.toSorted((a, b) => a.volume.localeCompare(b.volume));
      if (!isDeepStrictEqual(byName(operations), byName(other))) {
        throw new Error(`in another order: ${told(other)} in place of ${told(operations)}`);
      }
    },
  });
});

/** Paths that a volume has or wants. */
function pathsOf(name: VolumeName, { desired, records }: PlanInput): string[] {
  const intent = desired.get(name);
  const wanted = intent === undefined || isInvalid(intent) ? [] : intent.mounts.map(({ path }) => path);
  return [...wanted, ...(records.get(name)?.targets.map(({ path }) => path) ?? [])];
}

function without(input: PlanInput, names: readonly string[]): PlanInput {
  const kept = <T>(map: ReadonlyMap<VolumeName, T>) => new Map([...map].filter(([name]) => !names.includes(name)));
  return {
    ...input,
    desired: kept(input.desired),
    records: kept(input.records),
    pendingOperations: kept(input.pendingOperations),
  };
}
