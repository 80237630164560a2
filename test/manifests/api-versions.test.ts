import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { load } from "js-yaml";
import { type JsonObject, mergePatch } from "../../hack/lib/api-client.ts";
import { root } from "../../hack/lib/root.ts";
import { until } from "../../hack/lib/until.ts";
import { type TestCluster, testCluster } from "../lib/cluster/cluster.ts";
import { storedObjects } from "../lib/cluster/etcd.ts";

/** Where copies of our CRDs are tried, apart from the lane's own. */
const group = "versions.example.com";
const definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const name = `nodevolumesets.${group}`;

interface Version {
  readonly name: string;
  readonly served: boolean;
  readonly storage: boolean;
}

/** A release of docs/api-versions.md: which versions are served, and which is stored. */
interface Release {
  readonly served: readonly string[];
  readonly stored: string;
}

const releases = {
  k: { served: ["v1alpha1"], stored: "v1alpha1" },
  "k+1": { served: ["v1alpha1", "v1beta1"], stored: "v1alpha1" },
  "k+2": { served: ["v1alpha1", "v1beta1"], stored: "v1beta1" },
  "k+3": { served: ["v1beta1"], stored: "v1beta1" },
} satisfies { readonly [release: string]: Release };

describe("docs/api-versions.md", () => {
  let cluster: TestCluster;
  before(async function () {
    cluster = await testCluster(this);
    const applied = await cluster.admin.call("POST", definitions, { body: definition(releases.k) });
    expect(applied.status).to.equal(201);
    await served("v1alpha1");
    expect((await cluster.admin.call("POST", path("v1alpha1"), { body: set("old") })).status).to.equal(201);
  });
  after(() => cluster?.admin.call("DELETE", `${definitions}/${name}`));

  const path = (version: string, object = "") => `/apis/${group}/${version}/nodevolumesets${object && `/${object}`}`;
  const read = async (version: string, object: string) => (await cluster.admin.call("GET", path(version, object))).body;
  const served = async (version: string, is = true) => {
    let answer: unknown;
    const comes = async () => {
      const { status, body } = await cluster.admin.call("GET", path(version));
      answer = { status, message: body["message"] };
      return (status === 200) === is;
    };
    await until(`${version} ${is ? "to be served" : "to be gone"}`, 30_000, comes, () => answer);
  };
  /** Changes with the version that the API server stores. */
  const storageHash = async () => {
    const { body } = await cluster.admin.call("GET", `/apis/${group}/v1beta1`);
    const resources = body["resources"] as readonly { name: string; storageVersionHash?: string }[];
    return resources.find((resource) => resource.name === "nodevolumesets")?.storageVersionHash;
  };
  const release = async (to: Release) => {
    const { spec } = definition(to);
    const changed = await cluster.admin.call("PATCH", `${definitions}/${name}`, {
      contentType: mergePatch,
      body: { spec },
    });
    expect(changed.status, JSON.stringify(changed.body)).to.equal(200);
    for (const version of ["v1alpha1", "v1beta1"]) await served(version, to.served.includes(version));
  };

  it("k+1: an object of the old version is read and written in the new one, and only its apiVersion differs", async () => {
    await release(releases["k+1"]);
    const [before, after] = [await read("v1alpha1", "old"), await read("v1beta1", "old")];
    expect(after["apiVersion"]).to.equal(`${group}/v1beta1`);
    expect({ ...after, apiVersion: "" }).to.deep.equal({ ...before, apiVersion: "" });
    expect((await cluster.admin.call("POST", path("v1beta1"), { body: set("new", "v1beta1") })).status).to.equal(201);
    expect((await read("v1alpha1", "new"))["spec"]).to.deep.equal((await read("v1beta1", "new"))["spec"]);
  });

  it("k+2: stored anew, each object is of the new version, and the old one can be forgotten", async () => {
    const before = await storageHash();
    await release(releases["k+2"]);
    // Until then the API server stores what is written in the old version: k+3 could read nothing of the kind.
    await until("another version to be stored", 30_000, async () => (await storageHash()) !== before);
    for (const object of ["old", "new"]) {
      const now = await read("v1beta1", object);
      expect((await cluster.admin.call("PUT", path("v1beta1", object), { body: now })).status).to.equal(200);
    }
    const stored = await storedObjects(cluster.controlPlane, name);
    for (const object of ["old", "new"])
      expect(stored.get(object)?.apiVersion, `${object} in etcd`).to.equal(`${group}/v1beta1`);
    const definitionNow = await cluster.admin.call("GET", `${definitions}/${name}`);
    expect(definitionNow.body["status"]).to.deep.include({ storedVersions: ["v1alpha1", "v1beta1"] });
    const body = { status: { storedVersions: ["v1beta1"] } };
    const forgotten = await cluster.admin.call("PATCH", `${definitions}/${name}/status`, {
      contentType: mergePatch,
      body,
    });
    expect(forgotten.status).to.equal(200);
    // Who still speaks the old version goes on.
    expect((await read("v1alpha1", "old"))["spec"]).to.deep.equal((await read("v1beta1", "old"))["spec"]);
  });

  it("k+3: without the old version everything is still there", async () => {
    await release(releases["k+3"]);
    // While the API server exchanges its handler of the kind, it may answer 404.
    let items: unknown;
    await until("the list", 30_000, async () => {
      const { status, body } = await cluster.admin.call("GET", path("v1beta1"));
      items = body["items"];
      return status === 200;
    });
    const names = (items as { metadata: { name: string } }[]).map(({ metadata }) => metadata.name);
    expect(names.sort()).to.deep.equal(["new", "old"]);
  });

  it("our CRDs convert nothing, and policies and roles hold every version of the group", () => {
    for (const file of globSync("crds/nodevolume.dev_*.yaml", { cwd: root })) {
      const { spec } = load(readFileSync(join(root, file), "utf8")) as { spec: { conversion?: { strategy: string } } };
      expect(spec.conversion?.strategy ?? "None", file).to.equal("None");
    }
    const policies = globSync("config/{policy,overlays}/**/*.yaml", { cwd: root });
    const named = policies.flatMap((file) => {
      const rules =
        readFileSync(join(root, file), "utf8").match(/apiGroups: \[nodevolume\.dev\]\n\s+apiVersions: .*/g) ?? [];
      return rules.map((rule) => `${file} ${/apiVersions: (.*)/.exec(rule)?.[1]}`);
    });
    expect(named.length).to.be.greaterThan(1);
    for (const rule of named) expect(rule).to.match(/ \["\*"\]$/);
  });
});

/** The CRD of sets in the other group, with the versions that a release has. */
function definition({ served, stored }: Release) {
  const ours = load(readFileSync(join(root, "crds/nodevolume.dev_nodevolumesets.yaml"), "utf8")) as {
    spec: { names: JsonObject; versions: readonly Version[] };
  };
  const [version] = ours.spec.versions;
  const { shortNames: _, ...names } = ours.spec.names;
  // What is stored is in the list as long as an object may be stored so.
  const versions = [...new Set([...served, stored])].map((of) => ({ ...version, name: of, storage: of === stored }));
  const kind = { apiVersion: "apiextensions.k8s.io/v1", kind: "CustomResourceDefinition", metadata: { name } };
  return { ...kind, spec: { ...ours.spec, group, names, conversion: { strategy: "None" }, versions } };
}

function set(of: string, version = "v1alpha1") {
  const spec = { volume: { source: { emptyDir: { medium: "Memory", sizeLimit: "1Mi" } } } };
  return { apiVersion: `${group}/${version}`, kind: "NodeVolumeSet", metadata: { name: of }, spec };
}
