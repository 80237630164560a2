import type { Mutant } from "./mutant.ts";

const decide = "src/agent/planner/decide-phase.ts";
const choose = "src/agent/planner/next-operation.ts";
const steps = "src/agent/planner/volume-steps.ts";
const look = "src/agent/actual/build-actual-state.ts";
const targetSteps = "src/agent/planner/target-steps.ts";

/** Whose a mount is, and who may take it away: L6 to L8. */
export const ofOwnership: readonly Mutant[] = [
  {
    law: "L6",
    what: "takes the topmost mount for ours",
    test: "each unmount is",
    file: look,
    from: "layers.findLast((entry) => isOwnMount(entry, record))",
    to: "layers.at(-1)",
  },
  {
    law: "L6",
    what: "takes a mount with the recorded id for ours, whatever it is",
    test: "each unmount is",
    file: look,
    from: "if (!sameFilesystem(entry, record.identity)) return false;",
    to: "",
  },
  {
    law: "L6",
    what: "unmounts what another mount lies over",
    test: "each unmount is",
    file: steps,
    from: "if (blocked !== undefined) {",
    to: "if (blocked === target.problem && blocked !== undefined && blocked.message === '') {",
  },
  {
    law: "L6",
    what: "adopts a mount that shows something else",
    test: "what is changed in place",
    file: targetSteps,
    from: "|| !sameIdentity(foreign, source)) return [];",
    to: ") return [];",
    runs: 3000,
  },
  {
    law: "L6",
    what: "adopts without being allowed to",
    test: "what is changed in place",
    file: targetSteps,
    from: 'if (desired.adopt === "IfSame") return',
    to: "return",
    runs: 3000,
  },
  {
    law: "L6",
    what: "takes a mount of the same server for ours, of which the journal says that it is not",
    test: "what is changed in place",
    file: targetSteps,
    from: 'if (!input.mayHaveLost && mountMatch !== "own" && desired?.pod === undefined) return [];',
    to: "",
    runs: 3000,
  },
  {
    law: "L7",
    what: "tears down what it does not understand",
    test: "blocks its own",
    file: decide,
    from: "if (desired.deleting) return decideRevoked",
    to: "if (desired.deleting || isInvalid(desired)) return decideRevoked",
  },
  {
    law: "L7",
    what: "does not say which field it does not understand",
    test: "blocks its own",
    file: "src/agent/desired/not-understood.ts",
    from: ".map((error) => `",
    to: ".map((error) => error.message ?? `",
  },
  {
    law: "L8",
    what: "tears down when an intent vanishes",
    test: "a volume whose intent vanished",
    file: decide,
    from: "if (record?.revoked === true && record.retained !== true) {",
    to: "if (record !== undefined) {",
  },
  {
    law: "L8",
    what: "tears down what was given up on purpose",
    test: "a volume whose intent vanished",
    file: decide,
    from: "if (record?.revoked === true && record.retained !== true) {",
    to: "if (record?.revoked === true) {",
  },
  {
    law: "L8",
    what: "tears down what an intent before this one has left",
    test: "only for a reason",
    file: steps,
    from: "record !== undefined && record.uid !== uid &&",
    to: "record === undefined &&",
  },
  {
    law: "L8",
    what: "acts for a generation that the journal has passed",
    test: "only for a reason",
    file: decide,
    from: "desired.generation < record.generation;",
    to: "desired.generation < record.generation - 100;",
  },
  {
    law: "L8",
    what: "takes a suspended volume down",
    test: "only for a reason",
    file: choose,
    from: 'return kind === "unpublish" && hasLeft(',
    to: 'return kind === "unpublish" || hasLeft(',
  },
  {
    law: "L8",
    what: "unmounts the old path first",
    test: "the old path",
    file: steps,
    from: '?.truth !== "mounted";\n}',
    to: '?.truth === "uncertain";\n}',
  },
];
