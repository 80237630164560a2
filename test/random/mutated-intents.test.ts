import { posix } from "node:path";
import { asVolumeName } from "../../src/agent/model/identities.ts";
import { parseIntent, parseSet } from "../../src/api/validate.ts";
import { projectSet } from "../../src/controller/model/projections.ts";
import { mounted, planWorld, prefix, record, staged, wanted } from "../lib/builders/plan-world.ts";
import { badCases, type CorpusObject, goodCases } from "../lib/corpus/corpus.ts";
import { Learned } from "../lib/mutate/learned.ts";
import { mutatedJson } from "../lib/mutate/mutated-json.ts";
import { tryAll } from "../lib/mutate/tries.ts";
import type { SeededRandom } from "../sim/random.ts";
import { oneNode } from "../unit/controller/one-node.ts";

/** Of a kind, what is accepted, all of the corpus, and what was learned since. */
function ofKind(kind: string) {
  const good = goodCases().map(({ object }) => object);
  const of = (objects: readonly CorpusObject[]) => objects.filter((object) => object.kind === kind);
  const learned = new Learned<CorpusObject>(`${kind.toLowerCase()}s`);
  return { good: of(good), all: of([...good, ...badCases().map(({ object }) => object)]), learned };
}

type Kind = ReturnType<typeof ofKind>;

/** An object of the corpus, changed; mostly one that was accepted, and then mostly one that has work to do. */
function mutated({ good, all, learned }: Kind, work: object, random: SeededRandom): CorpusObject {
  const known = random.chance(0.85) ? good : all;
  const base = random.pick(learned.inputs.length > 0 && random.chance(0.2) ? learned.inputs : known);
  const { affinity: _, ...spec } = { ...(base["spec"] as { affinity?: unknown }), ...(random.chance(0.8) && work) };
  const object = mutatedJson({ ...base, spec }, all, random) as CorpusObject;
  return random.chance(0.9) ? { ...object, metadata: stored } : object;
}

/** As the API server has it, which nobody can write otherwise. */
const stored = {
  name: "corpus",
  uid: "u",
  resourceVersion: "1",
  generation: 1,
  creationTimestamp: "2026-01-01T00:00:00Z",
  finalizers: ["nodevolume.dev/unmount"],
};
const anywhere = { nodeSelector: {}, tolerations: [{ operator: "Exists" }], suspend: false };
const granted = { mode: "Manage", suspend: false, grant: { id: "g" } };

describe("mutated intents and sets", function () {
  this.timeout(3_600_000);

  it("intents are refused with a field, or planned within the prefixes", async () => {
    const intents = ofKind("NodeVolumeIntent");
    // That of the record beside which it is planned: what is staged fits, and a target is next.
    const own = wanted({ mounts: ["b", "c"].map((name) => ({ path: `${prefix}/${name}` })) });
    const make = (random: SeededRandom) =>
      random.chance(0.3) ? (mutatedJson(own, intents.all, random) as CorpusObject) : mutated(intents, granted, random);
    if (Learned.asked > 0) console.log(`      ${await intents.learned.learn(intents.all, make, look)}`);
    for (const input of intents.learned.inputs) look(input);
    await tryAll({
      what: "mutated intents",
      usual: 12_000,
      whole: 500_000,
      reaches: { refused: 1_000, planned: 500, published: 500, "not planned": 100 },
      attempt: (random) => look(make(random)),
    });
  });

  it("sets are refused with a field, or make intents that the agent understands", async () => {
    const sets = ofKind("NodeVolumeSet");
    const make = (random: SeededRandom) => mutated(sets, anywhere, random);
    if (Learned.asked > 0) console.log(`      ${await sets.learned.learn(sets.all, make, compile)}`);
    for (const input of sets.learned.inputs) compile(input);
    await tryAll({
      what: "mutated sets",
      usual: 12_000,
      whole: 500_000,
      reaches: { refused: 1_000, compiled: 500 },
      attempt: (random) => compile(make(random)),
    });
  });

  /** What becomes of an intent: on a node with nothing, and beside what an earlier intent of this name has left. */
  function look(object: unknown): string {
    const parsed = parseIntent(object);
    if (!parsed.ok) return refused(parsed.errors);
    const { value } = parsed;
    const own = value.metadata.name;
    const left = record({ name: asVolumeName(own) });
    const worlds = [{}, { records: [left], mounts: [staged, mounted] }];
    const kinds = new Set<string>();
    for (const world of worlds) {
      for (const operation of planWorld({ intents: [value], ...world }).operations) {
        kinds.add(operation.kind);
        if (!("path" in operation)) continue;
        // What is taken away is where the record says, whatever the intent says.
        if (operation.kind === "unpublish" && left.targets.some(({ path }) => path === operation.path)) continue;
        within(operation.path);
      }
    }
    return kinds.has("publish") ? "published" : kinds.size > 0 ? "planned" : "not planned";
  }

  /** What the controller would write for a set, by its own rules and then by those of the agent. */
  function compile(object: unknown): string {
    const parsed = parseSet(object);
    const entry = projectSet({ ...(object as CorpusObject), metadata: stored });
    if (entry === undefined) throw new Error("there is no set");
    const world = oneNode([entry]);
    const writes = world.writes();
    if (entry.spec === undefined) {
      if (writes.length > 0) throw new Error("intents of a set that is not understood");
      if (!entry.invalid?.includes(": ")) throw new Error(`no field: ${entry.invalid}`);
      return "refused";
    }
    if (!parsed.ok && writes.length > 0 && parsed.errors.some(({ path }) => path.startsWith(".spec")))
      throw new Error(`written all the same: ${JSON.stringify(parsed.errors)}`);
    for (const write of writes) {
      if (write.verb !== "create") throw new Error(`${write.verb} where there is nothing`);
      const made = { metadata: { name: write.name, labels: write.labels }, spec: write.spec };
      const read = parseIntent(made);
      if (!read.ok) throw new Error(`the agent would refuse it: ${JSON.stringify(read.errors)}`);
      for (const { path } of read.value.spec.mounts) within(path);
    }
    return writes.length > 0 ? "compiled" : "no intent";
  }

  function refused(errors: readonly { readonly path: string; readonly message: string }[]): string {
    if (errors.length === 0 || errors.some(({ message }) => message === "")) throw new Error("refused without a word");
    return "refused";
  }

  function within(path: string): void {
    const canonical = posix.normalize(path) === path && !path.endsWith("/") && !path.includes("\u0000");
    if (!canonical || !path.startsWith(`${prefix}/`)) throw new Error(`an effect at ${JSON.stringify(path)}`);
  }
});
