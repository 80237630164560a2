import { expect } from "chai";
import type { ApiClient } from "../../hack/lib/api-client.ts";
import { until } from "../../hack/lib/until.ts";
import { type TestCluster, testCluster } from "../lib/cluster/cluster.ts";
import { expectRefused, expectStatus, patch } from "../lib/cluster/policy-world.ts";

const namespace = "held-claims";
const claims = `/api/v1/namespaces/${namespace}/persistentvolumeclaims`;
const pods = `/api/v1/namespaces/${namespace}/pods?dryRun=All`;
/** What the API server itself puts on each claim. */
const protection = "kubernetes.io/pvc-protection";
const rbac = "/apis/rbac.authorization.k8s.io/v1";

describe("policy of claims", () => {
  let cluster: TestCluster;
  let controller: ApiClient;

  before(async function () {
    cluster = await testCluster(this);
    controller = cluster.as(await cluster.token("nodevolume-controller"));
    const { admin } = cluster;
    await admin.call("POST", "/api/v1/namespaces", { body: { metadata: { name: namespace } } });
    await admin.call("POST", `/api/v1/namespaces/${namespace}/serviceaccounts`, {
      body: { metadata: { name: "default" } },
    });
    for (const name of ["data", "app-cache", "free"]) await admin.call("POST", claims, { body: claim(name) });
    const metadata = { name: "people-claims" };
    const kinds = ["persistentvolumeclaims", "persistentvolumes"];
    const resources = ["pods", ...kinds, ...kinds.map((kind) => `${kind}/status`)];
    const rules = [{ apiGroups: [""], resources, verbs: ["*"] }];
    await admin.call("POST", `${rbac}/clusterroles`, { body: { metadata, rules } });
    const roleRef = { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: metadata.name };
    const subjects = [{ kind: "User", apiGroup: roleRef.apiGroup, name: "platform-admin" }];
    await admin.call("POST", `${rbac}/clusterrolebindings`, { body: { metadata, roleRef, subjects } });
  });
  after(async () => {
    for (const name of ["data", "app-cache", "free"]) await cluster?.admin.call("DELETE", `${claims}/${name}`);
  });

  const claim = (name: string) => ({
    metadata: { name },
    spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } },
  });
  const pod = (volume: object) => ({
    metadata: { name: "app" },
    spec: { containers: [{ name: "c", image: "nothing" }], volumes: [{ name: "cache", ...volume }] },
  });
  const naming = (claimName: string) => pod({ persistentVolumeClaim: { claimName } });
  const hold = (client: ApiClient, name: string, value: string | null) =>
    patch(client, `${claims}/${name}`, { metadata: { labels: { "nodevolume.dev/held": value } } });

  it("a pod is refused within a second after the label, and admitted within a second after it is gone", async () => {
    expectStatus(201, await cluster.admin.call("POST", pods, { body: naming("data") }));
    expectStatus(200, await hold(controller, "data", ""));
    await until("the refusal", 1_000, async () => {
      return (await cluster.admin.call("POST", pods, { body: naming("data") })).status === 403;
    });
    expectRefused(await cluster.people.call("POST", pods, { body: naming("data") }), "csi.nodevolume.dev");
    expectStatus(200, await hold(controller, "data", null));
    await until("the end of it", 1_000, async () => {
      return (await cluster.admin.call("POST", pods, { body: naming("data") })).status === 201;
    });
  });

  it("a pod is refused by whatever name, to read alone, and by any of its volumes", async () => {
    expectStatus(200, await hold(controller, "data", ""));
    await until("the refusal", 1_000, async () => {
      return (await cluster.admin.call("POST", pods, { body: naming("data") })).status === 403;
    });
    const held = { name: "held", persistentVolumeClaim: { claimName: "data" } };
    const { spec } = pod({ emptyDir: {} });
    const bodies = [
      { ...naming("data"), metadata: { generateName: "app-" } },
      pod({ persistentVolumeClaim: { claimName: "data", readOnly: true } }),
      { metadata: { name: "app" }, spec: { ...spec, volumes: [...spec.volumes, held] } },
    ];
    for (const body of bodies) {
      expectRefused(await cluster.people.call("POST", pods, { body }), "csi.nodevolume.dev");
    }
    expectStatus(200, await hold(controller, "data", null));
    await until("the end of it", 1_000, async () => {
      return (await cluster.admin.call("POST", pods, { body: naming("data") })).status === 201;
    });
  });

  it("whoever owns a claim keeps pods out of it by the label reserved", async () => {
    const reserve = (value: string | null) =>
      patch(cluster.people, `${claims}/free`, { metadata: { labels: { "nodevolume.dev/reserved": value } } });
    expectStatus(200, await reserve("true"));
    await until("the refusal", 1_000, async () => {
      return (await cluster.admin.call("POST", pods, { body: naming("free") })).status === 403;
    });
    expectRefused(await cluster.people.call("POST", pods, { body: naming("free") }), "nodevolume.dev/reserved");
    expectStatus(200, await hold(controller, "free", ""));
    expectStatus(200, await reserve(null));
    expectStatus(403, await cluster.admin.call("POST", pods, { body: naming("free") }));
    expectStatus(200, await hold(controller, "free", null));
    await until("the end of it", 1_000, async () => {
      return (await cluster.admin.call("POST", pods, { body: naming("free") })).status === 201;
    });
  });

  it("a pod whose ephemeral volume is the claim is refused, too; others are not", async () => {
    expectStatus(200, await hold(controller, "app-cache", ""));
    const { spec } = claim("");
    await until("the refusal", 1_000, async () => {
      const body = pod({ ephemeral: { volumeClaimTemplate: { spec } } });
      return (await cluster.admin.call("POST", pods, { body })).status === 403;
    });
    expectStatus(201, await cluster.admin.call("POST", pods, { body: naming("free") }));
    expectStatus(201, await cluster.admin.call("POST", pods, { body: pod({ emptyDir: {} }) }));
  });

  it("nobody but the controller sets or clears the label or the finalizer", async () => {
    expectRefused(await hold(cluster.people, "free", ""), "set and cleared by the controller");
    expectRefused(await hold(cluster.people, "app-cache", null), "set and cleared by the controller");
    const finalizers = [protection, "nodevolume.dev/in-use"];
    const forged = await patch(cluster.people, `${claims}/free`, { metadata: { finalizers } });
    expectRefused(forged, "set and cleared by the controller");
    expectStatus(200, await patch(controller, `${claims}/app-cache`, { metadata: { finalizers } }));
    const stripped = await patch(cluster.people, `${claims}/app-cache`, { metadata: { finalizers: null } });
    expectRefused(stripped, "set and cleared by the controller");
    expectStatus(200, await patch(cluster.people, `${claims}/app-cache`, { metadata: { labels: { team: "a" } } }));
    const made = { ...claim("new"), metadata: { name: "new", labels: { "nodevolume.dev/held": "" } } };
    expectRefused(await cluster.people.call("POST", claims, { body: made }), "set and cleared by the controller");
    expectStatus(200, await patch(controller, `${claims}/app-cache`, { metadata: { finalizers: [protection] } }));
    expectStatus(200, await hold(controller, "app-cache", null));
  });

  it("nobody but the controller sets or clears them by way of status, on claims and on PersistentVolumes", async () => {
    const volumes = "/api/v1/persistentvolumes";
    const csi = { driver: "test.nodevolume.dev", volumeHandle: "held" };
    const spec = { accessModes: ["ReadWriteOnce"], capacity: { storage: "1Gi" }, csi };
    expectStatus(201, await cluster.admin.call("POST", volumes, { body: { metadata: { name: "held" }, spec } }));
    const label = (value: string | null) => ({ metadata: { labels: { "nodevolume.dev/held": value } } });
    for (const [path, own, isClaim] of [
      [`${claims}/data`, protection, true],
      [`${volumes}/held`, "kubernetes.io/pv-protection", false],
    ] as const) {
      const status = `${path}/status`;
      const metadata = { finalizers: [own, "nodevolume.dev/in-use"] };
      expectRefused(await patch(cluster.people, status, label("")), "set and cleared by the controller");
      expectRefused(await patch(cluster.people, status, { metadata }), "set and cleared by the controller");
      if (isClaim) expectStatus(200, await patch(controller, path, label("")));
      expectStatus(200, await patch(controller, path, { metadata }));
      if (isClaim) expectRefused(await patch(cluster.people, status, label(null)), "set and cleared by the controller");
      const stripped = await patch(cluster.people, status, { metadata: { finalizers: null } });
      expectRefused(stripped, "set and cleared by the controller");
      expectStatus(200, await patch(cluster.people, status, { status: { phase: "Bound" } }));
      expectStatus(200, await patch(controller, path, { metadata: { finalizers: [own] } }));
      if (isClaim) expectStatus(200, await patch(controller, path, label(null)));
    }
    expectStatus(200, await cluster.admin.call("DELETE", `${volumes}/held`));
  });

  it("does not keep the control plane and ourselves from their pods", async () => {
    for (const excluded of ["kube-system", "nodevolume-system"]) {
      const path = `/api/v1/namespaces/${excluded}`;
      await cluster.admin.call("POST", `${path}/serviceaccounts`, { body: { metadata: { name: "default" } } });
      await cluster.admin.call("POST", `${path}/persistentvolumeclaims`, { body: claim("own") });
      const label = { metadata: { labels: { "nodevolume.dev/held": "" } } };
      expectStatus(200, await patch(controller, `${path}/persistentvolumeclaims/own`, label));
      const answer = await cluster.admin.call("POST", `${path}/pods?dryRun=All`, { body: naming("own") });
      expect(answer.status, JSON.stringify(answer.body)).to.equal(201);
      await cluster.admin.call("DELETE", `${path}/persistentvolumeclaims/own`);
    }
  });
});
