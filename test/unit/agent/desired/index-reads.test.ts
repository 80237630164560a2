import { expect } from "chai";
import { indexIn, indexReads } from "../../../../src/agent/desired/index-reads.ts";
import { type IntentEntry, understand } from "../../../../src/agent/desired/intents.ts";
import type { IndexedIntent, NodeVolumeState } from "../../../../src/api/types.gen.ts";
import { wanted } from "../../../lib/builders/plan-world.ts";

const entry = (name: string, generation = 1, more: Partial<IndexedIntent> = {}): IndexedIntent => {
  return { name, uid: `uid-${name}`, generation, ...more };
};

function known(name: string, generation = 1): IntentEntry {
  const intent = wanted();
  const found = understand({ ...intent, metadata: { ...intent.metadata, name, uid: `uid-${name}`, generation } });
  if (found === undefined) throw new Error("no entry");
  return found;
}

describe("indexReads", () => {
  function due(input: {
    index?: IndexedIntent[];
    known?: IntentEntry[];
    onRecord?: string[];
    answered?: { [name: string]: string };
  }) {
    const index = new Map((input.index ?? []).map((one) => [one.name, one]));
    const store = new Map((input.known ?? []).map((one) => [one.metadata.name, one]));
    const answered = new Map(Object.entries(input.answered ?? {}));
    return [...indexReads(index, store, input.onRecord ?? [], answered).due.keys()];
  }

  const cases: readonly [string, Parameters<typeof due>[0], string[]][] = [
    ["nothing, where nothing is", {}, []],
    ["what is new in the index", { index: [entry("a"), entry("b")], known: [known("a")] }, ["b"]],
    ["what has another generation", { index: [entry("a", 2)], known: [known("a", 1)] }, ["a"]],
    [
      "what an index says that is behind, or of another history",
      { index: [entry("a", 1)], known: [known("a", 3)] },
      ["a"],
    ],
    [
      "nothing that is known from elsewhere",
      { index: [entry("a", 3)], known: [known("a", 3)], answered: { a: "uid-a 2 " } },
      [],
    ],
    [
      "another object of the name",
      { index: [entry("a", 1, { uid: "other" })], known: [known("a", 3)], answered: { a: "uid-a 3 " } },
      ["a"],
    ],
    [
      "not again what the index said of another object when it was read",
      { index: [entry("a", 1, { uid: "other" })], known: [known("a", 3)], answered: { a: "other 1 " } },
      [],
    ],
    ["what the index lacks, though it was there", { known: [known("a")], answered: { a: "uid-a 1 " } }, ["a"]],
    ["not again what the index lacked when it was read", { known: [known("a")], answered: { a: "" } }, []],
    ["what is on record, whatever the index says", { onRecord: ["a"] }, ["a"]],
    ["not again what was on record and is gone", { onRecord: ["a"], answered: { a: "" } }, []],
    ["not again what the index names and is gone", { index: [entry("a")], answered: { a: "uid-a 1 " } }, []],
    [
      "what the controller says of it in its status",
      { index: [entry("a", 1, { controllerStatus: "5" })], known: [known("a")], answered: { a: "uid-a 1 4" } },
      ["a"],
    ],
    [
      "what the controller no longer says of it",
      { index: [entry("a")], known: [known("a")], answered: { a: "uid-a 1 4" } },
      ["a"],
    ],
  ];
  for (const [what, input, names] of cases) {
    it(`asks for ${what}`, () => expect(due(input)).to.deep.equal(names));
  }

  it("counts as known what an index that came back says of an intent that was read meanwhile", () => {
    const index = new Map([["a", entry("a")]]);
    const reads = indexReads(index, new Map([["a", known("a")]]), [], new Map([["a", ""]]));
    expect([...reads.known]).to.deep.equal([["a", "uid-a 1 "]]);
  });
});

describe("indexIn", () => {
  const state = (spec?: NodeVolumeState["spec"]) => ({ metadata: { name: "n1" }, status: {}, ...(spec && { spec }) });

  it("takes what is missing for no index, and what is empty for one", () => {
    for (const missing of [undefined, state(), state({})]) {
      expect(indexIn(missing)).to.have.nested.property("problem.reason", "IndexMissing");
    }
    expect(indexIn(state({ intents: [] }))).to.deep.equal({ entries: new Map() });
  });

  it("takes an index that lists none of too many for none", () => {
    const { problem } = indexIn(state({ omitted: 1001 })) as { problem: { reason: string; message: string } };
    expect(problem.reason).to.equal("IndexTooLarge");
    expect(problem.message).to.match(/1001 intents.*--intents=Watch/);
  });
});
