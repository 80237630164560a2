import { expect } from "chai";
import { indexEntry, indexOf, mostIndexed } from "../../../../src/controller/model/intent-index.ts";
import { type Intent, indexDigest } from "../../../../src/controller/model/projections.ts";
import { setEntry } from "../objects.ts";
import { oneNode } from "../one-node.ts";

function someIntent(change: (intent: Intent) => void = () => {}): Intent {
  const world = oneNode([setEntry("data")]);
  world.settle();
  const intent = world.intents()[0] as Intent;
  change(intent);
  return intent;
}

describe("indexOf", () => {
  const named = (name: string) => someIntent(({ metadata }) => Object.assign(metadata, { name }));

  it("names each intent with its UID and generation, in one order", () => {
    const [a, b] = [named("n1.a"), named("n1.b")];
    expect(indexOf([b, a])).to.deep.equal(indexOf([a, b]));
    const { uid, generation } = a.metadata;
    expect(indexOf([b, a]).intents?.[0]).to.deep.equal({ name: "n1.a", uid, generation });
    expect(indexOf([])).to.deep.equal({ intents: [] });
  });

  it("lists none of more than it can hold, and says how many they are", () => {
    const one = named("n1.a");
    const many = (count: number) => Array.from({ length: count }, () => one);
    expect(indexOf(many(mostIndexed)).intents).to.have.length(mostIndexed);
    expect(indexOf(many(mostIndexed + 1))).to.deep.equal({ omitted: mostIndexed + 1 });
  });

  it("leaves out first what is only observed: who makes pods decides how many those are", () => {
    const ours = named("n1.a");
    const observed = someIntent(({ metadata, spec }) => {
      Object.assign(metadata, { name: "n1.seen" });
      Object.assign(spec, { observed: { pods: [] } });
    });
    const crowd = Array.from({ length: mostIndexed }, () => observed);
    expect(indexOf(crowd).intents).to.have.length(mostIndexed);
    expect(indexOf([...crowd, ours])).to.deep.equal(indexOf([ours]));
    const many = Array.from({ length: mostIndexed + 1 }, () => ours);
    expect(indexOf([...crowd, ...many])).to.deep.equal({ omitted: mostIndexed + 1 });
  });

  it("is another one when the controller has written into a status, and the same when the agent has", () => {
    const plain = indexEntry(someIntent());
    const mounted = indexEntry(someIntent(({ status }) => Object.assign(status, { state: "Mounted", inUse: true })));
    const lost = indexEntry(
      someIntent(({ status }) =>
        Object.assign(status, { agentState: { state: "Lost", since: "2026-01-01T00:00:00Z" } }),
      ),
    );
    const attaching = indexEntry(
      someIntent(({ status }) => Object.assign(status, { attach: { reason: "WaitingForAttach" } })),
    );
    expect(mounted).to.deep.equal({ ...plain, uid: mounted.uid });
    expect(plain.controllerStatus).to.equal(undefined);
    expect(lost.controllerStatus)
      .to.match(/^[0-9a-f]{10}$/)
      .and.not.equal(attaching.controllerStatus);
  });
});

describe("indexDigest", () => {
  it("tells no index from an empty one, and does not mind the order of fields", () => {
    expect(indexDigest(undefined)).to.equal("");
    expect(indexDigest({ intents: [] })).to.not.equal("");
    const entry = { name: "a", uid: "u", generation: 1 };
    const { name, uid, generation } = entry;
    expect(indexDigest({ intents: [entry] })).to.equal(indexDigest({ intents: [{ generation, uid, name }] }));
  });
});
