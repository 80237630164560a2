import { expect } from "chai";
import { parseIntent, parseSet } from "../../../src/api/validate.ts";
import { wanted } from "../../lib/builders/plan-world.ts";

// What mutated objects have found (test/random/mutated-intents.test.ts).
describe("parsing never throws", () => {
  it("over a status with a member of the name __proto__, which is dropped as any that is not known", () => {
    const transition = JSON.parse('{"time": "2026-01-01T00:00:00Z", "state": "Mounted", "__proto__": {"a": 1}}');
    const parsed = parseIntent({ ...wanted(), status: { inUse: true, history: [transition] } });
    expect(parsed.ok && Object.keys(parsed.value.status.history?.[0] ?? {})).to.deep.equal(["time", "state"]);
  });

  it("over an object without a name, which is said", () => {
    const errors = [parseSet({ metadata: {}, spec: {} }), parseSet({ metadata: { name: 1 }, spec: {} })].map(
      (parsed) => (parsed.ok ? [] : parsed.errors.map(({ path }) => path)),
    );
    for (const paths of errors) expect(paths.join()).to.not.equal("");
    const set = {
      metadata: {},
      spec: { volume: { source: { emptyDir: {} } }, mounts: [{ name: "a", path: "/mnt/nodevolume/a" }] },
    };
    const parsed = parseSet(set);
    expect(parsed.ok ? [] : parsed.errors).to.deep.equal([{ path: ".metadata.name", message: "must be a name" }]);
  });
});
