import { expect } from "chai";
import { type IntentEntry, understand } from "../../../../src/agent/desired/intents.ts";
import { wanted } from "../../../lib/builders/plan-world.ts";

const shown = wanted();
const known = (entry: IntentEntry | undefined) => () => entry;
const spec = (change: object) => ({ ...shown, spec: { ...shown.spec, ...change } });

describe("understand", () => {
  const first = understand(shown);

  it("keeps nothing of managedFields, whether an object is new, known or not understood", () => {
    const managed = <T extends object>(intent: T & { metadata: object }) => ({
      ...intent,
      metadata: { ...intent.metadata, managedFields: [{ manager: "nodevolume-agent" }] },
    });
    const before = understand(managed(shown));
    const entries = [
      before,
      understand(managed({ ...structuredClone(shown), status: { ...shown.status, state: "Mounting" } }), known(before)),
      understand(managed(spec({ mounts: [{ path: 1 }] }))),
    ];
    for (const entry of entries)
      expect(JSON.stringify(entry)).to.contain(shown.metadata.name).and.not.contain("managed");
  });

  it("takes what is wanted over from an object that differs in its status alone, and the status from the newer one", () => {
    const status = { ...shown.status, state: "Mounting" };
    const metadata = { ...shown.metadata, resourceVersion: "9", labels: { a: "b" } };
    const second = understand({ ...structuredClone(shown), metadata, status }, known(first));
    expect(second?.desired).to.equal(first?.desired);
    expect(second?.raw.status.state).to.equal("Mounting");
    expect(second?.metadata).to.include({ resourceVersion: "9" });
  });

  it("reads a status that is none as the status at birth", () => {
    const second = understand({ ...shown, status: { state: 7 } }, known(first));
    expect(second?.desired).to.equal(first?.desired);
    expect(second?.raw.status).to.deep.equal(wanted().status);
  });

  const differences: readonly [string, object][] = [
    ["another spec, whatever its generation", spec({ suspend: true })],
    ["another generation", { ...shown, metadata: { ...shown.metadata, generation: 2 } }],
    ["another object of the name", { ...shown, metadata: { ...shown.metadata, uid: "uid-2" } }],
    ["a deletion", { ...shown, metadata: { ...shown.metadata, deletionTimestamp: "2026-01-01T00:00:00Z" } }],
  ];
  for (const [what, object] of differences) {
    it(`understands ${what} anew`, () => {
      const second = understand(object, known(first));
      expect(second?.desired).to.not.equal(first?.desired);
      expect(second?.desired).to.deep.equal(understand(object)?.desired);
    });
  }

  it("keeps to what it said of a spec that is not understood", () => {
    const bad = understand(spec({ mounts: 7 }));
    const again = understand({ ...spec({ mounts: 7 }), status: { state: "Invalid" } }, known(bad));
    expect(again?.desired).to.equal(bad?.desired);
    expect(again?.raw.status.state).to.equal("Invalid");
  });
});
