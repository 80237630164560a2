import type { Mutant } from "./mutant.ts";

const planVolume = "src/agent/planner/plan-volume.ts";
const choose = "src/agent/planner/next-operation.ts";
const steps = "src/agent/planner/volume-steps.ts";
const look = "src/agent/actual/build-actual-state.ts";
const targetSteps = "src/agent/planner/target-steps.ts";

/** What is known, and when: L1 to L5. */
export const ofKnowledge: readonly Mutant[] = [
  {
    law: "L1",
    what: "takes down before the intents were read completely",
    test: "until the intents",
    file: choose,
    from: "if (isRemoval(operation) && !input.synced) return false;",
    to: "",
  },
  {
    law: "L1",
    what: "replaces a mount before the intents were read completely",
    test: "until the intents",
    file: "src/agent/model/operation.ts",
    from: 'if (action.kind === "publish") return action.replaces !== undefined;',
    to: "",
  },
  {
    law: "L1",
    what: "acts without a mount table",
    test: "while the mount table",
    file: choose,
    from: "if (input.table === undefined) return false;",
    to: "",
  },
  {
    law: "L2",
    what: "calls absent what an unread table may show",
    test: "a target is mounted or absent",
    file: look,
    from: 'if (table === undefined) return { kind: "unreadable" };',
    to: 'if (table === undefined) return { kind: "absent" };',
  },
  {
    law: "L2",
    what: "forgets that what is staged is in use",
    test: "what is not proved",
    file: look,
    from: "mounted || staged ||",
    to: "mounted ||",
  },
  {
    law: "L2",
    what: "calls a mount ours though another one is over it",
    test: "a target is mounted or absent",
    file: look,
    from: "if (ours !== top || layers.length > 1) return",
    to: "if (layers.length > 2) return",
  },
  {
    law: "L2",
    what: "looks for a mount of unknown id in the topmost layer only",
    test: "a target is mounted or absent",
    file: look,
    from: "layers.some((entry) => mayBeOurs(entry, record))",
    to: "[foreign].some((entry) => entry !== undefined && mayBeOurs(entry, record))",
  },
  {
    law: "L3",
    what: "unstages while a target is uncertain",
    test: "no volume is unstaged",
    file: steps,
    from: "if (recorded.length === 0) return unstageSteps",
    to: 'if (recorded.every(({ truth }) => truth !== "mounted")) return unstageSteps',
  },
  {
    law: "L3",
    what: "unstages when no mount is wanted, whatever is left",
    test: "no volume is unstaged",
    file: steps,
    from: "if (unused && left.length === 0)",
    to: "if (unused)",
  },
  {
    law: "L3",
    what: "overlooks targets that no record speaks of",
    test: "no volume is unstaged",
    file: steps,
    from: "if (lost.length > 0) return { actions: lost, problems };",
    to: "",
    runs: 4000,
  },
  {
    law: "L4",
    what: "starts a second operation",
    test: "a volume gets one operation",
    file: planVolume,
    from: "if (running === undefined) return { ...base, pending, ...chosen };",
    to: "return { ...base, pending, ...chosen };",
  },
  {
    law: "L5",
    what: "overlooks that a mount was taken away",
    test: "after any story",
    file: targetSteps,
    from: 'if (target.truth === "mounted" || group.action === "wait") return [];',
    to: 'if (target.drift === "Missing" || group.action === "wait") return [];',
    runs: 100,
  },
  {
    law: "L5",
    what: "writes down again and again which mount is its own",
    test: "after any story",
    file: targetSteps,
    from: "if (!isNoted(target)) return",
    to: "if (target.record !== undefined) return",
    runs: 100,
  },
];
