import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { load } from "js-yaml";
import { type JsonObject, mergePatch } from "../../hack/lib/api-client.ts";
import { root } from "../../hack/lib/root.ts";
import { until } from "../../hack/lib/until.ts";
import { parseSet } from "../../src/api/validate.ts";
import { type TestCluster, testCluster } from "../lib/cluster/cluster.ts";

/** Where a copy of our CRD is tried, apart from the lane's own. */
const group = "renamed.example.com";
const definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const name = `nodevolumesets.${group}`;
const sets = `/apis/${group}/v1alpha1/nodevolumesets`;

/** What people wrote, by the names before and by those of today. */
const old = {
  rollout: { maxUnavailable: 2, pauseOnFailure: false },
  releaseOnDrain: true,
  nodeLossPolicy: { type: "AfterTimeout", minutes: 5 },
};
const renamed = {
  rollout: { maxUnavailable: 2, onFailure: "Continue" },
  drainPolicy: "Release",
  nodeLossPolicy: { type: "AfterTimeout", timeoutSeconds: 300 },
};

describe("a set that was stored with the names that fields had before", () => {
  let cluster: TestCluster;
  before(async function () {
    cluster = await testCluster(this);
    const applied = await cluster.admin.call("POST", definitions, { body: definition(withOldNames) });
    expect(applied.status, JSON.stringify(applied.body)).to.equal(201);
    await until("the copy to be served", 30_000, async () => (await cluster.admin.call("GET", sets)).status === 200);
    await apply(old);
    expect(await spec()).to.deep.include(old);
    const body = { spec: definition((version) => version).spec };
    const changed = await cluster.admin.call("PATCH", `${definitions}/${name}`, { contentType: mergePatch, body });
    expect(changed.status, JSON.stringify(changed.body)).to.equal(200);
    await until("the names of today", 30_000, async () => "onFailure" in ((await spec())["rollout"] ?? {}));
  });
  after(() => cluster?.admin.call("DELETE", `${definitions}/${name}`));

  const apply = (fields: JsonObject) => cluster.adminKubectl.run(["apply", "-f", "-"], JSON.stringify(set(fields)));
  const spec = async () => {
    const { body } = await cluster.admin.call("GET", `${sets}/data`);
    return (body["spec"] ?? {}) as { [name: string]: object };
  };
  const patch = (body: JsonObject, subresource = "") =>
    cluster.admin.call("PATCH", `${sets}/data${subresource}`, { contentType: mergePatch, body });

  it("is shown without them: a rollout pauses, no time is a proof, and a controller from before understands no set", async () => {
    const shown = await spec();
    expect(shown["rollout"]).to.deep.equal({ maxUnavailable: 2, onFailure: "Pause" });
    expect(shown["nodeLossPolicy"]).to.deep.equal({ type: "AfterTimeout" });
    expect(shown).to.not.have.any.keys("releaseOnDrain", "drainPolicy");
  });

  it("is not understood without its time, so that what is mounted stays", async () => {
    const parsed = parseSet({ metadata: { name: "data" }, spec: await spec() });
    const paths = parsed.ok ? [] : parsed.errors.map(({ path }) => path);
    expect(paths).to.deep.equal([".spec.nodeLossPolicy.timeoutSeconds"]);
  });

  it("takes a status, labels and finalizers all the same", async () => {
    const answers = [
      await patch({ metadata: { labels: { team: "a" }, finalizers: ["example.com/kept"] } }),
      await patch({ status: { observedGeneration: 1 } }, "/status"),
      await patch({ metadata: { finalizers: null } }),
    ];
    const shown = answers.map(({ status, body }) => `${status} ${status < 300 ? "" : JSON.stringify(body)}`);
    expect(shown).to.deep.equal(["200 ", "200 ", "200 "]);
  });

  it("is refused with the old names, and gets what it had by kubectl apply with those of today", async () => {
    const { code, stderr } = await cluster.adminKubectl.try(["apply", "-f", "-"], JSON.stringify(set(old)));
    expect(code).to.not.equal(0);
    for (const field of ["nodeLossPolicy.minutes", "releaseOnDrain", "rollout.pauseOnFailure"])
      expect(stderr).to.include(`unknown field "spec.${field}"`);
    await apply(renamed);
    expect(await spec()).to.deep.include(renamed);
    expect(parseSet({ metadata: { name: "data" }, spec: await spec() }).ok).to.equal(true);
  });
});

type Fields = { [name: string]: JsonObject };

/** The CRD of sets in the other group. */
function definition(change: (version: JsonObject) => unknown) {
  const ours = load(readFileSync(join(root, "crds/nodevolume.dev_nodevolumesets.yaml"), "utf8")) as {
    spec: { names: JsonObject; versions: readonly JsonObject[] };
  };
  const { shortNames: _, ...names } = ours.spec.names;
  const kind = { apiVersion: "apiextensions.k8s.io/v1", kind: "CustomResourceDefinition", metadata: { name } };
  return { ...kind, spec: { ...ours.spec, group, names, versions: ours.spec.versions.map(change) } };
}

/** A version of the CRD with the names before, and without rules, some of which speak of the new ones. */
function withOldNames(version: JsonObject): unknown {
  const copy = withoutRules(version) as { schema: { openAPIV3Schema: JsonObject } };
  const spec = fieldsOf(fieldsOf(copy.schema.openAPIV3Schema)["spec"]);
  const exchange = (fields: Fields, name: string, before: string, type: string) => {
    delete fields[name];
    fields[before] = { type };
  };
  exchange(spec, "drainPolicy", "releaseOnDrain", "boolean");
  exchange(fieldsOf(spec["rollout"]), "onFailure", "pauseOnFailure", "boolean");
  exchange(fieldsOf(spec["nodeLossPolicy"]), "timeoutSeconds", "minutes", "integer");
  return copy;
}

function fieldsOf(schema: JsonObject = {}): Fields {
  return schema["properties"] as Fields;
}

function withoutRules(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(withoutRules);
  if (typeof node !== "object" || node === null) return node;
  const kept = Object.entries(node).filter(([key]) => key !== "x-kubernetes-validations");
  return Object.fromEntries(kept.map(([key, value]) => [key, withoutRules(value)]));
}

function set(fields: JsonObject) {
  const spec = { volume: { source: { emptyDir: {} } }, ...fields };
  return { apiVersion: `${group}/v1alpha1`, kind: "NodeVolumeSet", metadata: { name: "data" }, spec };
}
