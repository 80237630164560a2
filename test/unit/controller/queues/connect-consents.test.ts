import { expect } from "chai";
import { allowing } from "../../../../hack/lib/allowing.ts";
import type { SetEntry } from "../../../../src/controller/model/projections.ts";
import {
  type Claim,
  type PersistentVolume,
  projectClaim,
  projectPersistentVolume,
} from "../../../../src/controller/model/storage-objects.ts";
import { connectConsents } from "../../../../src/controller/queues/connect-consents.ts";
import { createObjectStore } from "../../../../src/kube/watch/object-store.ts";
import { virtualSystem } from "../../kube/virtual-system.ts";
import { setEntry } from "../objects.ts";

const csi = { driver: "disk.example", volumeHandle: "vol-1" };
const source = { persistentVolumeClaim: { namespace: "apps", claimName: "data" } };

describe("connectConsents", () => {
  function world() {
    const system = virtualSystem();
    const claims = createObjectStore<Claim>(system);
    const volumes = createObjectStore<PersistentVolume>(system);
    const sets = createObjectStore<SetEntry>(system);
    const seen: string[] = [];
    const queue = (name: string) => ({ add: (key: string) => void seen.push(`${name} ${key}`) });
    connectConsents({
      storage: {
        claims: { store: claims } as never,
        persistentVolumes: { store: volumes } as never,
        complete: () => true,
      },
      sets,
      gatherer: {
        forgetNodesOf(names) {
          seen.push(`forget ${names.join()}`);
          return ["n1"];
        },
      },
      queues: { sets: queue("set"), nodes: queue("node"), readiness: queue("readiness") },
      refused: (set) => (set === "b" ? ["n1", "n2"] : []),
    });
    for (const name of ["a", "b"]) sets.upsert(setEntry(name, { spec: { volume: { source } } }));
    sets.upsert(setEntry("other"));
    sets.upsert(setEntry("handle", { spec: { volume: { source: { csi } } } }));
    let version = 0;
    const claim = (labels: { [key: string]: string }, name = "data", volumeName?: string) => {
      version += 1;
      const metadata = { name, namespace: "apps", uid: "u", resourceVersion: String(version), labels };
      const projected = projectClaim({ metadata, spec: { volumeName } });
      if (projected !== undefined) claims.upsert(projected);
      return seen.splice(0);
    };
    const volume = (claimRef: object | undefined, more: object = {}) => {
      version += 1;
      const metadata = { name: "pv", uid: "v", resourceVersion: String(version) };
      const projected = projectPersistentVolume({ metadata, spec: { csi, claimRef, ...more } });
      if (projected !== undefined) volumes.upsert(projected);
      return seen.splice(0);
    };
    return { claim, volume };
  }

  it("looks at the nodes of all sets of a claim once, however many sets name it", () => {
    const { claim } = world();
    const nodes = ["node n1", "readiness n1", "node n2", "readiness n2"];
    expect(claim({})).to.deep.equal(["set a", "set b", "forget a,b", ...nodes]);
  });

  it("looks at nothing if no set names the claim, or none is allowed or denied by the change", () => {
    const { claim } = world();
    expect(claim({}, "another")).to.deep.equal([]);
    claim({});
    expect(claim({ app: "db" })).to.deep.equal([]);
    expect(claim(allowing("other"))).to.deep.equal([]);
    expect(claim(allowing("a"))).to.deep.equal(["set a", "forget a", "node n1", "readiness n1"]);
  });

  it("looks at the nodes of a set that names the volume of the claim by its handle", () => {
    const { claim, volume } = world();
    const asked = ["set handle", "forget handle", "node n1", "readiness n1"];
    const claimRef = { namespace: "apps", name: "another", uid: "u" };
    expect(volume(undefined)).to.deep.equal(asked);
    expect(claim({}, "another")).to.deep.equal([]);
    expect(volume(claimRef)).to.deep.equal(asked);
    expect(volume(claimRef, { accessModes: ["ReadWriteOnce"] })).to.deep.equal([]);
    expect(claim({}, "another", "pv")).to.deep.equal(asked);
    expect(claim(allowing("handle"), "another", "pv")).to.deep.equal(asked);
    expect(claim(allowing("handle", "other"), "another", "pv")).to.deep.equal([]);
  });

  it("asks nobody for a claim that names a volume which does not name the claim", () => {
    const { claim, volume } = world();
    volume({ namespace: "apps", name: "another", uid: "of-another" });
    expect(claim({}, "stranger", "pv")).to.deep.equal([]);
    expect(claim(allowing("handle"), "stranger", "pv")).to.deep.equal([]);
  });
});
