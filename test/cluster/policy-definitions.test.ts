import { type TestCluster, testCluster } from "../lib/cluster.ts";
import { expectRefused, expectStatus, patch } from "../lib/policy-world.ts";

const definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const definition = `${definitions}/nodevolumeintents.nodevolume.dev`;
const dryRun = `${definition}?dryRun=All`;

describe("policy of our definitions", () => {
  let cluster: TestCluster;
  before(async function () {
    cluster = await testCluster(this);
  });
  after(() => annotate(null));

  const annotate = (value: string | null) =>
    patch(cluster.admin, definition, { metadata: { annotations: { "nodevolume.dev/allow-removal": value } } });

  it("to delete one, which would unmount every node, is refused even to the cluster's administrator", async () => {
    expectRefused(await cluster.admin.call("DELETE", dryRun), "Delete the NodeVolumeSets first");
  });

  it("is let through once the definition says so itself", async () => {
    await annotate("true");
    expectStatus(200, await cluster.admin.call("DELETE", dryRun));
  });

  it("leaves other definitions alone", async () => {
    const names = { plural: "things", singular: "thing", kind: "Thing", listKind: "ThingList" };
    const schema = { openAPIV3Schema: { type: "object" } };
    const body = {
      apiVersion: "apiextensions.k8s.io/v1",
      kind: "CustomResourceDefinition",
      metadata: { name: "things.other.example" },
      spec: {
        group: "other.example",
        scope: "Cluster",
        names,
        versions: [{ name: "v1", served: true, storage: true, schema }],
      },
    };
    expectStatus(201, await cluster.admin.call("POST", definitions, { body }));
    expectStatus(200, await cluster.admin.call("DELETE", `${definitions}/things.other.example`));
  });
});
