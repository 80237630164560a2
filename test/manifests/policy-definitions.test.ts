import { join } from "node:path";
import { expect } from "chai";
import { root } from "../../hack/lib/root.ts";
import { until } from "../../hack/lib/until.ts";
import { type TestCluster, testCluster } from "../lib/cluster/cluster.ts";
import { definitionsGuard, letGuardGo } from "../lib/cluster/definitions-guard.ts";
import { expectRefused, expectStatus, patch } from "../lib/cluster/policy-world.ts";

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

  it("a second pass of who deletes everything, guard and all, is refused as well", async () => {
    const { adminKubectl, admin } = cluster;
    const guard = ["get", ...definitionsGuard, "--ignore-not-found", "-o", "name"];
    const isRefused = async () => (await admin.call("DELETE", dryRun)).status === 403;
    try {
      for (let pass = 0; pass < 2; pass += 1) {
        await adminKubectl.run(["delete", ...definitionsGuard, "--wait=false"]);
        expectRefused(await admin.call("DELETE", dryRun), "Delete the NodeVolumeSets first");
      }
      expect((await adminKubectl.run(guard)).trim().split("\n")).to.have.length(2);
      await letGuardGo(adminKubectl);
      await until("the guard to be gone", 20_000, async () => (await adminKubectl.run(guard)) === "");
      await until("the definitions to be unguarded", 20_000, async () => !(await isRefused()));
    } finally {
      await letGuardGo(adminKubectl).catch(() => undefined);
      await adminKubectl.run(["apply", "--server-side", "-f", join(root, "config/policy/definitions.yaml")]);
      await until("the definitions to be guarded", 20_000, isRefused);
    }
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
