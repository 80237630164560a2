import { expect } from "chai";
import { allowing } from "../../../../hack/lib/allowing.ts";
import { type Claim, projectClaim } from "../../../../src/controller/attach/objects.ts";
import { connectConsents } from "../../../../src/controller/claims/connect-consents.ts";
import type { SetEntry } from "../../../../src/controller/projections.ts";
import { createObjectStore } from "../../../../src/kube/object-store.ts";
import { virtualSystem } from "../../kube/virtual-system.ts";
import { setEntry } from "../objects.ts";

const source = { persistentVolumeClaim: { namespace: "apps", claimName: "data" } };

describe("connectConsents", () => {
  function world() {
    const system = virtualSystem();
    const claims = createObjectStore<Claim>(system);
    const sets = createObjectStore<SetEntry>(system);
    const seen: string[] = [];
    const queue = (name: string) => ({ add: (key: string) => void seen.push(`${name} ${key}`) });
    connectConsents({
      storage: { claims: { store: claims } as never, complete: () => true },
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
    let version = 0;
    const claim = (labels: { [key: string]: string }, name = "data") => {
      version += 1;
      const metadata = { name, namespace: "apps", uid: "u", resourceVersion: String(version), labels };
      const projected = projectClaim({ metadata });
      if (projected !== undefined) claims.upsert(projected);
      return seen.splice(0);
    };
    return { claim };
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
});
