import { expect } from "chai";
import fc from "fast-check";
import { createGatherer } from "../../../../src/controller/intents/gather.ts";
import type { Intent, NodeInfo, SetEntry } from "../../../../src/controller/model/projections.ts";
import { createObjectStore } from "../../../../src/kube/watch/object-store.ts";
import { virtualSystem } from "../../kube/virtual-system.ts";

const nothing = { allowedPrefixes: [], podsOf: () => undefined, consent: () => undefined };

describe("createGatherer", () => {
  it("law: finds the intents of a node and of a set as if it had looked through all", () => {
    const step = fc.record({
      act: fc.constantFrom("put", "delete", "another"),
      name: fc.constantFrom("a", "b", "c"),
      nodeName: fc.constantFrom("n1", "n2"),
      sets: fc.uniqueArray(fc.constantFrom("s1", "s2", "s3")),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 20 }), (steps) => {
        const system = virtualSystem();
        const intents = createObjectStore<Intent>(system);
        const stores = {
          intents,
          nodes: createObjectStore<NodeInfo>(system),
          sets: createObjectStore<SetEntry>(system),
        };
        const gatherer = createGatherer(stores, nothing, system);
        for (const [index, { act, name, nodeName, sets }] of steps.entries()) {
          const before = intents.get(name);
          if (act === "delete" && before === undefined) continue;
          const labels = Object.fromEntries(sets.map((set) => [`set.nodevolume.dev/${set}`, ""]));
          const uid = act === "put" ? (before?.metadata.uid ?? "u") : `u${index}`;
          // The node of an intent never changes.
          const spec = act !== "another" && before !== undefined ? before.spec : { nodeName };
          const next = { metadata: { name, uid, labels, resourceVersion: String(index + 1) }, spec } as Intent;
          if (act === "delete")
            intents.delete({ ...next, metadata: { ...next.metadata, uid: before?.metadata.uid } } as Intent);
          else intents.upsert(next);
        }
        const all = [...intents.list()];
        for (const node of ["n1", "n2"]) {
          expect(gatherer.intentsOf(node)).to.have.members(all.filter(({ spec }) => spec.nodeName === node));
        }
        for (const set of ["s1", "s2", "s3"]) {
          const labelled = all.filter(({ metadata }) =>
            Object.hasOwn(metadata.labels ?? {}, `set.nodevolume.dev/${set}`),
          );
          expect(gatherer.intentsOfSet(set)).to.have.members(labelled);
        }
      }),
    );
  });
});
