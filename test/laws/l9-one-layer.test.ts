import { isInvalid } from "../../src/agent/model/desired.ts";
import { statusOf } from "../../src/agent/status/intent-status.ts";
import { findCondition } from "../../src/api/conditions.ts";
import { plan } from "../lib/builders/plan-whole.ts";
import { law } from "./law.ts";
import { buildWorld } from "./worlds/build.ts";
import { isOf, mayCover, told } from "./worlds/evidence.ts";
import { overlap, prefix } from "./worlds/paths.ts";
import { worldChoices } from "./worlds/random-worlds.ts";

describe("L9: at most one layer on a target", () => {
  law("nothing is mounted where anything is mounted, but in place of the one mount that it replaces", {
    worlds: worldChoices,
    runs: 2000,
    reaches: ["mounted on a free path", "replaced", "wanted where something is", "wanted in a conflict", "not allowed"],
    check(choice, reached) {
      const { input } = buildWorld(choice);
      const result = plan(input);
      const publishes = result.operations.flatMap((operation) => (operation.kind === "publish" ? [operation] : []));
      for (const operation of publishes) {
        const { path, replaces, volume } = operation;
        const layers = input.table?.layers(path) ?? [];
        const expected = replaces === undefined ? [] : [replaces];
        if (layers.map(({ id }) => id).join() !== expected.join())
          throw new Error(`a second layer: ${told([operation])}`);
        reached.count(replaces === undefined ? "mounted on a free path" : "replaced");
        if (!path.startsWith(`${prefix}/`)) throw new Error(`outside of the prefixes: ${told([operation])}`);
        const held = [...input.records.values()].find(
          (record) => record.name !== volume && record.targets.some((target) => overlap(target.path, path)),
        );
        // What a volume has, it may mend, though another one says that it has a part of it too.
        if (held !== undefined && replaces === undefined)
          throw new Error(`${held.name} has ${path}: ${told([operation])}`);
        const other = publishes.find((each) => each.volume !== volume && overlap(each.path, path));
        if (other !== undefined && replaces === undefined) throw new Error(`both at once: ${told([operation, other])}`);
      }
      for (const { desired, problems } of result.volumes.values()) {
        if (desired === undefined || isInvalid(desired)) continue;
        for (const { path } of desired.mounts) {
          reached.count("wanted where something is", (input.table?.layers(path).length ?? 0) > 0);
          reached.count("wanted in a conflict", problems.targets.get(path)?.reason === "PathConflict");
          reached.count("not allowed", problems.targets.get(path)?.reason === "PathNotAllowed");
        }
      }
    },
  });

  law("a foreign mount on a target that is wanted is reported, and the volume is not Ready", {
    worlds: worldChoices,
    runs: 2000,
    reaches: ["alone", "over ours", "beneath ours", "observed"],
    check(choice, reached) {
      const { input, intents, volumes } = buildWorld(choice);
      for (const volume of plan(input).volumes.values()) {
        const { desired, record, name } = volume;
        const entry = intents.get(name);
        if (desired === undefined || entry === undefined || isInvalid(desired) || desired.deleting) continue;
        const status = statusOf(entry.raw, volume, { agent: { bootID: "boot-1", epoch: 1 }, now: 0 });
        for (const { path } of desired.mounts) {
          const target = record?.targets.find((each) => each.path === path);
          const layers = input.table?.layers(path) ?? [];
          const staged = volumes.get(name);
          const isForeign = layers.map((mount) => {
            return (target === undefined || !mayCover(target, mount)) && (staged === undefined || !isOf(mount, staged));
          });
          if (!isForeign.includes(true)) continue;
          reached.count("alone", layers.length === 1);
          reached.count("over ours", layers.length > 1 && isForeign.at(-1) === true && isForeign[0] === false);
          reached.count("beneath ours", layers.length > 1 && isForeign[0] === true && isForeign.at(-1) === false);
          reached.count("observed", desired.mode === "Observe");
          const shown = status.mounts?.find((mount) => mount.path === path);
          if (shown?.reason === undefined || shown.state === "Mounted") {
            throw new Error(`${path} of ${name} has a foreign mount, and is shown as ${JSON.stringify(shown)}`);
          }
          const ready = findCondition(status.conditions, "Ready");
          if (ready?.status === "True") throw new Error(`${name} is Ready with a foreign mount on ${path}`);
        }
      }
    },
  });
});
