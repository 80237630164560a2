import { isInvalid } from "../../src/agent/model/desired.ts";
import { statusOf } from "../../src/agent/status/intent-status.ts";
import { findCondition } from "../../src/api/conditions.ts";
import { plan } from "../lib/builders/plan-whole.ts";
import { law } from "./law.ts";
import { buildWorld } from "./worlds/build.ts";
import { told } from "./worlds/evidence.ts";
import { breakages } from "./worlds/intents.ts";
import { worldChoices } from "./worlds/random-worlds.ts";

describe("L7: what is not understood", () => {
  law("blocks its own volume, tears nothing down, and is reported with the field's path", {
    worlds: worldChoices,
    runs: 2000,
    reaches: ["mounted", "something to take away", "something to set up", ...breakages.map(({ path }) => path)],
    check(choice, reached) {
      const { input, intents } = buildWorld(choice);
      const result = plan(input);
      for (const [name, desired] of input.desired) {
        if (!isInvalid(desired) || desired.deleting) continue;
        if (desired.generation < (input.records.get(name)?.generation ?? 0)) continue; // an old read says nothing
        const volume = result.volumes.get(name);
        const entry = intents.get(name);
        if (volume === undefined || entry === undefined) throw new Error(`${name} is not planned`);
        if (volume.operation !== undefined) throw new Error(`not understood, and yet: ${told([volume.operation])}`);
        const index = choice.volumes[Number(name.slice(-1))]?.intent?.broken ?? -1;
        const { path, reason = "Invalid" } = breakages[index] ?? { path: "?" };
        reached.count(path);
        reached.count(
          "mounted",
          volume.actualState.targets.some(({ truth }) => truth === "mounted"),
        );
        const status = statusOf(entry.raw, volume, { agent: { bootID: "boot-1", epoch: 1 }, now: 0 });
        const ready = findCondition(status.conditions, "Ready");
        if (ready?.status !== "False" || ready.reason !== reason || !ready.message.includes(path)) {
          throw new Error(`${path} of ${name} is not reported: ${JSON.stringify(ready)}`);
        }
        if (status.waiting?.reason !== reason) throw new Error(`${name} does not wait for it`);
        reached.count("something to set up", (entry.raw.spec.mounts?.length ?? 0) > 0);
        const { record } = volume;
        reached.count(
          "something to take away",
          record !== undefined && record.targets.length > 0 && record.revoked === true,
        );
      }
    },
  });
});
