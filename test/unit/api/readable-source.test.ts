import { expect } from "chai";
import { understand } from "../../../src/agent/desired/intents.ts";
import { readableSource } from "../../../src/api/readable-source.ts";
import type { NodeVolumeIntent, VolumeSource } from "../../../src/api/types.gen.ts";
import { resolveVolume } from "../../../src/controller/attach/resolve-volume.ts";
import { needStorage, type Storage } from "../../../src/controller/cache/storage.ts";
import { projectIntent } from "../../../src/controller/model/projections.ts";
import { foundShares } from "../../../src/controller/model/set-share.ts";
import { sameSource } from "../../../src/controller/model/volume-identity.ts";
import { isGuarded } from "../../../src/controller/model/volume-key.ts";
import { recordIn } from "../../../src/kube/json.ts";
import { sameJson } from "../../../src/kube/same-json.ts";
import { wanted } from "../../lib/builders/plan-world.ts";
import { goodCases } from "../../lib/corpus/corpus.ts";

const objects = {
  claim: () => undefined,
  persistentVolume: () => undefined,
  storageClass: () => undefined,
  csiDriver: () => undefined,
};

const intent = (source: unknown) => ({ ...wanted(), spec: { ...wanted().spec, source } }) as NodeVolumeIntent;

/** As deep as the API server takes JSON. */
const deep = (open: string, close: string): unknown => JSON.parse(`${open.repeat(9_900)}1${close.repeat(9_900)}`);

const good = goodCases();

const unreadable: readonly [string, unknown][] = [
  ["a member that is null", { local: null }],
  ["a member that is a string", { hostPath: "/a" }],
  ["no sources", { projected: {} }],
  ["sources of null", { projected: { sources: [null] } }],
  ["no iqn", { iscsi: {} }],
  ["names that are no list", { fc: { targetWWNs: "x" } }],
  ["no handle", { csi: {} }],
  ["a reference that is a number", { image: { reference: 5 } }],
  ["no repository", { git: {} }],
  ["no servers", { glusterfs: {} }],
  ["no monitors", { cephfs: {} }],
  ["monitors that are an object", { rbd: { monitors: {} } }],
  ["a path that is a number", { local: { path: 4 } }],
  ["lists in lists", { hostPath: { path: "/a", future: deep("[", "]") } }],
  ["objects in objects", { hostPath: deep('{"a":', "}") }],
];

describe("the source of an intent, which the API server does not check", () => {
  for (const [what, source] of unreadable) {
    it(`is none to the controller with ${what}, which then decides of all others`, () => {
      const read = projectIntent(intent(source));
      expect(read?.spec.source).to.deep.equal({});
      if (read === undefined) return;
      expect([...foundShares([read]).keys()]).to.have.length(1);
      expect(sameSource(read.spec.source, { emptyDir: {} })).to.equal(false);
      expect(isGuarded(read.spec.source), "granted at once").to.equal(true);
      expect(resolveVolume(read.spec, objects)).to.have.property("waiting");
      expect(sameJson(read, projectIntent(intent(source)))).to.equal(true);
    });

    it(`is refused by an agent with ${what}`, () => {
      const entry = understand(intent(source));
      expect(entry?.desired).to.have.property("problem").that.contains("not understood: .spec.source");
      expect(understand(intent(source), () => entry)?.desired).to.equal(entry?.desired);
    });
  }

  it("has the objects read that its release waits for", () => {
    const [read, told] = [projectIntent(intent({ csi: {} })), [] as string[]];
    const store = (name: string) => ({
      subscribe(handlers: { onAdd?(object: unknown): void }) {
        if (name === "intents") handlers.onAdd?.(read);
        return () => {};
      },
    });
    const stores = { sets: store("sets"), intents: store("intents") } as unknown as Parameters<typeof needStorage>[1];
    needStorage({ need: () => void told.push("needed") } as unknown as Storage, stores);
    expect(told).to.deep.equal(["needed"]);
  });

  it("stays as it is with fields of a newer version", () => {
    const sources = [{ hostPath: { path: "/a", future: [{ a: 1 }] } }, { future: { a: "b" } }, wanted().spec.source];
    for (const source of sources) expect(readableSource(source)).to.equal(source as VolumeSource);
  });

  it("stays as it is in every set and intent that is good", () => {
    const sources = good.flatMap(({ object }) => {
      const spec = recordIn(object, "spec");
      return recordIn(recordIn(spec, "volume") ?? spec, "source") ?? [];
    });
    expect(sources.length).to.be.greaterThan(50);
    for (const source of sources) expect(readableSource(source)).to.equal(source as VolumeSource);
  });
});
