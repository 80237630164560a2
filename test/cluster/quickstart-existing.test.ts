import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "chai";
import { writeKubeconfig } from "../../hack/lib/control-plane/credentials.ts";
import { type ControlPlane, startControlPlane } from "../../hack/lib/control-plane/start.ts";
import { slow } from "../../hack/lib/lanes/slow.ts";
import { pidOf } from "../../hack/lib/pid-of.ts";
import { createNodeObject } from "../../hack/lib/pretend-node/object.ts";
import { locateTools } from "../../hack/lib/tools/locate.ts";
import { leftOf } from "../lib/asserts/left-of.ts";
import { need } from "../lib/asserts/requirements.ts";
import { startQuickstart } from "../lib/cluster/quickstart-run.ts";

/** Where what quickstart may make would show. */
const collections = [
  "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
  "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies",
  "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings",
  "/apis/rbac.authorization.k8s.io/v1/clusterroles",
  "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings",
  "/apis/rbac.authorization.k8s.io/v1/roles",
  "/apis/rbac.authorization.k8s.io/v1/rolebindings",
  "/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas",
  "/apis/flowcontrol.apiserver.k8s.io/v1/prioritylevelconfigurations",
  "/api/v1/namespaces",
  "/api/v1/configmaps",
];

describe("npm run quickstart -- --kubeconfig", () => {
  let plane: ControlPlane;
  let directory: string;
  let kubeconfig: string;

  before(async function () {
    need(this, "root");
    this.timeout(20 * 60_000);
    const tools = await locateTools({ env: process.env, report: (line) => console.log(`  ${line}`) });
    directory = mkdtempSync(join(tmpdir(), "nodevolume-existing-"));
    plane = await startControlPlane({ tools, directory: join(directory, "plane") });
    await createNodeObject(plane.admin, "this-machine");
    await createNodeObject(plane.admin, "another", { other: "yes" });
    await plane.admin.call("PATCH", "/api/v1/nodes/another/status", {
      contentType: "application/merge-patch+json",
      body: { status: { nodeInfo: { bootID: "of-another-machine" } } },
    });
    kubeconfig = join(directory, "admin.kubeconfig");
    const { server, ca, credentials } = plane;
    writeKubeconfig(kubeconfig, { server, ca, user: "admin", token: credentials.adminToken });
  });
  after(() => plane?.stop());

  const inventory = async () => {
    const lists = await Promise.all(collections.map(async (path) => (await plane.admin.call("GET", path)).body));
    return lists.flatMap((list) =>
      (list["items"] as { metadata: { name: string; namespace?: string } }[]).map(
        ({ metadata }) => `${String(list["kind"])} ${metadata.namespace ?? ""}/${metadata.name}`,
      ),
    );
  };

  slow(
    "refuses a Node that is not there, one of another machine, and missing rights, and changes nothing",
    async () => {
      const before = await inventory();
      const people = join(directory, "people.kubeconfig");
      const { server, ca, credentials } = plane;
      writeKubeconfig(people, { server, ca, user: "people", token: credentials.peopleToken });
      const attempts: readonly [string, string, RegExp][] = [
        [kubeconfig, "nobody", /the cluster has no Node nobody[\s\S]*give --node one of: another, this-machine/],
        [kubeconfig, "another", /the Node another is another machine/],
        [people, "this-machine", /the Node this-machine cannot be read[\s\S]*cluster administrator/],
        ["/nowhere", "this-machine", /there is no file \/nowhere/],
      ];
      for (const [file, node, message] of attempts) {
        const refused = run(file, node);
        await refused.exits(1);
        refused.said(message);
      }
      expect(await inventory()).to.deep.equal(before);
    },
  );

  slow("makes what is missing, shows it on that Node alone, and removes only what it made", async function () {
    this.timeout(180_000);
    // Somebody has one of the objects already: it has to stay.
    const mine = {
      apiVersion: "rbac.authorization.k8s.io/v1",
      kind: "ClusterRole",
      metadata: { name: "nodevolume-viewer" },
      rules: [],
    };
    await plane.admin.call("POST", "/apis/rbac.authorization.k8s.io/v1/clusterroles", { body: mine });
    const before = await inventory();
    const shown = run(kubeconfig, "this-machine");
    await finalizing(shown.exits(0));
    shown.said(/nodevolumeset\.nodevolume\.dev\/scratch +True +AllReady +1 +1 /);
    shown.said(/it was gone for/);
    expect(await inventory()).to.deep.equal(before);
    expect(await leftOf(shown)).to.deep.equal([]);
  });

  for (const [when, said, longest] of [
    ["while it waits", "waiting until every node has what the sets say", 1_000],
    // What it leaves says that everything is Ready and mounted.
    ["when all is Ready", "==> kubectl get nodevolumesets", 0],
  ] as const)
    slow(`cleans up after a run that was killed ${when}`, async function () {
      this.timeout(480_000);
      const before = await inventory();
      const killed = run(kubeconfig, "this-machine");
      await killed.says(said);
      await sleep(Math.random() * longest);
      process.kill(-pidOf(killed.npm), "SIGKILL");
      expect(await leftOf(killed)).to.deep.equal([]);
      expect((await inventory()).length).to.be.greaterThan(before.length);
      await finalizing(run(kubeconfig, "this-machine").exits(0));
      expect(await inventory()).to.deep.equal(before);
    });

  /** Stands in for the namespace controller, which this control plane does not have: lets deleted namespaces go. */
  async function finalizing(ended: Promise<void>): Promise<void> {
    await ended;
    const list = (await plane.admin.call("GET", "/api/v1/namespaces")).body["items"] as {
      metadata: { name: string; deletionTimestamp?: string };
    }[];
    for (const { metadata } of list.filter((namespace) => namespace.metadata.deletionTimestamp !== undefined)) {
      const leases = `/apis/coordination.k8s.io/v1/namespaces/${metadata.name}/leases`;
      await plane.admin.call("DELETE", leases);
      const body = { apiVersion: "v1", kind: "Namespace", metadata: { name: metadata.name }, spec: { finalizers: [] } };
      await plane.admin.call("PUT", `/api/v1/namespaces/${metadata.name}/finalize`, { body });
    }
  }
});

function run(kubeconfig: string, node: string) {
  return startQuickstart(["--once", "--kubeconfig", kubeconfig, "--node", node]);
}
