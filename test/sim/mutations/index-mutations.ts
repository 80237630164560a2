import type { Mutation } from "./mutation.ts";

/** Ways to believe an index of intents too much, or too little. */
export const indexMutations: readonly Mutation[] = [
  {
    law: "L8",
    name: "take an intent for gone that the index lacks",
    noticedBy: { scenario: "an agent starts beside an index that lacks what it has mounted" },
    file: "src/agent/desired/intent-reads.ts",
    from: "const raw = await this.#get(name);",
    to: 'const raw = asked.mark === "" ? undefined : await this.#get(name);',
  },
  {
    law: "L1",
    name: "take a missing index for an empty one",
    noticedBy: { scenario: "an agent starts without an index, and nothing is taken down" },
    file: "src/agent/desired/index-reads.ts",
    from: 'if (intents === undefined) return missing("its NodeVolumeState has no spec.intents");',
    to: "if (intents === undefined) return { entries: new Map() };",
  },
];
