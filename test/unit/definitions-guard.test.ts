import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { loadAll } from "js-yaml";
import { root } from "../../hack/lib/root.ts";
import { shippedPolicies } from "./shipped-policies.ts";

interface Kept {
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly annotations?: { readonly [key: string]: string };
    readonly finalizers?: readonly string[];
  };
}

const definitions = globSync("crds/nodevolume.dev_*.yaml", { cwd: root }).flatMap(
  (file) => loadAll(readFileSync(join(root, file), "utf8")) as Kept[],
);
const guard = (shippedPolicies as readonly Kept[]).filter(({ metadata }) => metadata.name === "nodevolume-definitions");

describe("CRDs, and what guards them", () => {
  for (const { kind, metadata } of [...definitions, ...guard]) {
    it(`Flux, Argo CD and Helm delete no ${kind} ${metadata.name}`, () =>
      expect(metadata.annotations).to.include({
        "kustomize.toolkit.fluxcd.io/prune": "disabled",
        "argocd.argoproj.io/sync-options": "Delete=false,Prune=false",
        "helm.sh/resource-policy": "keep",
      }));
  }

  it("the guard is kept by finalizers: admission looks at no policy", () => {
    expect(definitions).to.have.length(3);
    expect(guard.map(({ kind, metadata: { finalizers } }) => [kind, finalizers])).to.deep.equal([
      ["ValidatingAdmissionPolicy", ["nodevolume.dev/keep-definitions"]],
      ["ValidatingAdmissionPolicyBinding", ["nodevolume.dev/keep-definitions"]],
    ]);
  });
});
