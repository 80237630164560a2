import fc from "fast-check";
import { statusOf } from "../../src/agent/status/intent-status.ts";
import { isTransientState, isUnderWay } from "../../src/agent/status/transient-states.ts";
import type { NodeVolumeIntentStatus } from "../../src/api/types.gen.ts";
import { plan } from "../lib/builders/plan-whole.ts";
import { law } from "./law.ts";
import { buildWorld } from "./worlds/build.ts";
import { worldChoices } from "./worlds/random-worlds.ts";

const context = { agent: { bootID: "boot-1", epoch: 1 }, now: 0 };

describe("isUnderWay", () => {
  law("says so only of a status that isTransientState, whatever was shown before", {
    worlds: fc.record({ before: fc.option(worldChoices, { nil: undefined }), now: worldChoices }),
    runs: 1000,
    reaches: [
      "under way",
      "under way after another status",
      "Staging",
      "Mounting",
      "Unmounting",
      "not, and yet passing",
    ],
    check({ before, now }, reached) {
      const shown = before && buildWorld(before);
      const earlier = shown && plan(shown.input).volumes;
      const { input, intents } = buildWorld(now);
      for (const volume of plan(input).volumes.values()) {
        const entry = intents.get(volume.name);
        if (entry === undefined) continue;
        const [was, wasEntry] = [earlier?.get(volume.name), shown?.intents.get(volume.name)];
        const status: NodeVolumeIntentStatus =
          was === undefined || wasEntry === undefined ? {} : statusOf(wasEntry.raw, was, context);
        const after = statusOf({ ...entry.raw, status }, volume, context);
        const underWay = isUnderWay(status, volume);
        const passing = isTransientState(status, after);
        reached.count("not, and yet passing", !underWay && passing);
        if (!underWay) continue;
        reached.count("under way");
        reached.count("under way after another status", was !== undefined);
        reached.count(after.state ?? "no state");
        if (!passing) throw new Error(`${volume.name} is under way, and will be shown as ${JSON.stringify(after)}`);
      }
    },
  });
});
