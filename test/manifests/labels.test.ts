import { execFile } from "node:child_process";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect } from "chai";
import { loadAll } from "js-yaml";
import { root } from "../../hack/lib/root.ts";
import { locateTool } from "../../hack/lib/tools/locate.ts";
import { someAudiences } from "../../hack/release/chart/components.ts";
import { kustomize, type OfDefault } from "../../hack/release/kustomize.ts";
import { version } from "../../src/version.ts";

interface Labelled {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly labels?: { readonly [label: string]: string } };
  readonly spec?: {
    readonly selector?: { readonly matchLabels?: object };
    readonly template?: { readonly metadata: { readonly labels: object } };
  };
}

const name = "node-volume-operator";
/** What belongs together, and is upgraded together: docs/tasks/upgrade.md. */
const parts = ["access", "agent", "api", "controller", "monitoring", "policy", "quota", "settings"];

/** What components need beside them. */
const more: OfDefault["more"] = {
  configMapGenerator: [
    {
      ...{ name: "nodevolume-settings", namespace: "nodevolume-system", behavior: "merge" },
      literals: ["NODEVOLUME_KUBELET_DIR=/data/kubelet"],
    },
  ],
  patches: [
    {
      patch: JSON.stringify({
        ...{ apiVersion: "storage.k8s.io/v1", kind: "CSIDriver", metadata: { name: "csi.nodevolume.dev" } },
        spec: { tokenRequests: someAudiences },
      }),
    },
  ],
};

describe("labels app.kubernetes.io", () => {
  let kubectl = "";
  before(async function () {
    this.timeout(20 * 60_000); // it may have to be built, once
    kubectl = await locateTool("kubectl", { env: process.env, report: (line) => console.log(`  ${line}`) });
  });

  /** Objects without one of the labels, or with another value than they may have. */
  const wrong = (text: string) =>
    (loadAll(text) as Labelled[]).flatMap(({ kind, metadata }) => {
      const labels = metadata.labels ?? {};
      const is = ["name", "part-of", "version"].map((label) => labels[`app.kubernetes.io/${label}`]);
      const part = labels["app.kubernetes.io/component"] ?? "";
      const right = JSON.stringify(is) === JSON.stringify([name, name, version]) && parts.includes(part);
      return right ? [] : [`${kind} ${metadata.name}: ${is.join(", ")}, ${part}`];
    });

  it("are on every object of config/default", async () => {
    expect(wrong(await kustomize(kubectl, {}))).to.deep.equal([]);
  });

  it("are on every object of config/default with all components", async () => {
    const components = readdirSync(join(root, "config/components"));
    expect(wrong(await kustomize(kubectl, { components, more }))).to.deep.equal([]);
  });

  for (const overlay of readdirSync(join(root, "config/overlays")))
    it(`are on every object of the overlay ${overlay}`, async () => {
      const options = { maxBuffer: 2 ** 26 };
      const made = await promisify(execFile)(kubectl, ["kustomize", join(root, "config/overlays", overlay)], options);
      expect(wrong(made.stdout)).to.deep.equal([]);
    });

  it("stand on nothing that others bring into a kustomization of ours", async () => {
    const theirs = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "theirs", namespace: "default" } };
    const generator = { name: "theirs", namespace: "default", options: { disableNameSuffixHash: true } };
    const made = await kustomize(kubectl, {
      components: ["monitoring", "scheduling-gates"],
      more: { configMapGenerator: [{ ...generator, literals: ["a=b"] }] },
    });
    const [found] = (loadAll(made) as Labelled[]).filter(({ metadata }) => metadata.name === "theirs");
    expect(found).to.deep.equal({ ...theirs, data: { a: "b" } });
  });

  it("are no part of a selector but those that always were: a selector cannot be changed", async () => {
    const workloads = (loadAll(await kustomize(kubectl, {})) as Labelled[]).filter(({ spec }) => spec?.template);
    const selectors = workloads.map(({ kind, spec }) => [
      kind,
      spec?.selector?.matchLabels,
      spec?.template?.metadata.labels,
    ]);
    const labels = (component: string) => ({
      "app.kubernetes.io/name": name,
      "app.kubernetes.io/component": component,
    });
    expect(selectors).to.have.deep.members([
      ["DaemonSet", labels("agent"), labels("agent")],
      ["Deployment", labels("controller"), labels("controller")],
    ]);
  });
});
