import type { Mutant } from "./mutant.ts";

const targetSteps = "src/agent/planner/target-steps.ts";

/** What is made of it, and what is told: L9 to L11. */
export const ofResult: readonly Mutant[] = [
  {
    law: "L9",
    what: "mounts over a foreign mount",
    test: "nothing is mounted where",
    file: targetSteps,
    from: "if (target.problem !== undefined) {",
    to: 'if (target.problem?.reason === "TargetCovered") {',
  },
  {
    law: "L9",
    what: "mounts where another volume wants to",
    test: "nothing is mounted where",
    file: targetSteps,
    from: "owners.conflict(desired.name, mount.path, input.settings) ??\n        ",
    to: "",
    runs: 3000,
  },
  {
    law: "L10",
    what: "lets observedGeneration go back",
    test: "observedGeneration",
    file: "src/agent/status/intent-status.ts",
    from: "Math.max(generation, previous.observedGeneration ?? 0)",
    to: "generation",
  },
  {
    law: "L10",
    what: "calls Mounted whatever is on record",
    test: "each mount that is called",
    file: "src/agent/status/volume-summary.ts",
    from: 'if (isMounted(target)) return "Mounted";',
    to: 'if (target.record !== undefined) return "Mounted";',
  },
  {
    law: "L10",
    what: "calls a mount with other flags as wanted",
    test: "each mount that is called",
    file: "src/agent/model/actual-volume.ts",
    from: "!target.attributesDiffer &&",
    to: "",
  },
  {
    law: "L10",
    what: "calls a node drained before everything was read",
    test: "a node is called drained",
    file: "src/agent/status/node-state-status.ts",
    from: "synced && holding.length === 0",
    to: "holding.length === 0",
  },
  {
    law: "L11",
    what: "formats what is not empty",
    test: "no device that has anything",
    file: "src/plugins/local/local-device.ts",
    from: "if (!device.empty",
    to: "if (false && !device.empty",
    runs: 100,
  },
];
