import { attach } from "./attach.ts";
import { change } from "./change.ts";
import { claims } from "./claims.ts";
import { csi } from "./csi.ts";
import { devices } from "./devices.ts";
import { drift } from "./drift.ts";
import { indexed } from "./indexed.ts";
import { observe } from "./observe.ts";
import { ownership } from "./ownership.ts";
import { podTargets } from "./pod-targets.ts";
import { pods } from "./pods.ts";
import { randomClaims } from "./random-claims.ts";
import { randomIntents } from "./random-intents.ts";
import { randomSets } from "./random-sets.ts";
import { recovery } from "./recovery.ts";
import type { Scenario } from "./scenario.ts";
import { setUp } from "./set-up.ts";
import { sets } from "./sets.ts";
import { tearDown } from "./tear-down.ts";
import { waiting } from "./waiting.ts";
import { wakes } from "./wakes.ts";

/** Every base scenario. */
export const scenarios: readonly Scenario[] = [
  ...setUp,
  ...devices,
  ...change,
  ...tearDown,
  ...drift,
  ...recovery,
  ...observe,
  ...wakes,
  ...sets,
  ...csi,
  ...ownership,
  ...attach,
  ...claims,
  ...pods,
  ...podTargets,
  ...waiting,
  ...indexed,
];

/** Stories that the seed tells. */
export const randomStories: readonly Scenario[] = [randomIntents, randomSets, randomClaims];
