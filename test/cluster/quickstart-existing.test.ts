import { spawn } from "node:child_process";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "chai";
import { writeKubeconfig } from "../../hack/lib/control-plane/credentials.ts";
import { type ControlPlane, startControlPlane } from "../../hack/lib/control-plane/start.ts";
import { leftoversOf, lookForTraces } from "../../hack/lib/lanes/leftovers.ts";
import { createNodeObject } from "../../hack/lib/pretend-node/object.ts";
import { root } from "../../hack/lib/root.ts";
import { newRunId, runVariable } from "../../hack/lib/sandbox/outside.ts";
import { locateTools } from "../../hack/lib/tools/locate.ts";
import { need } from "../lib/requirements.ts";

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

  it("refuses a Node that is not there, one of another machine, and missing rights, and changes nothing", async () => {
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
      const { code, output } = await run(file, node).ended;
      expect(code, output).to.equal(1);
      expect(output).to.match(message);
    }
    expect(await inventory()).to.deep.equal(before);
  });

  it("makes what is missing, shows it on that Node alone, and removes only what it made", async function () {
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
    const { id, traces, ended } = run(kubeconfig, "this-machine");
    const { code, output } = await finalizing(ended);
    expect(code, output).to.equal(0);
    expect(output)
      .to.match(/nodevolumeset\.nodevolume\.dev\/scratch +1 +1 /)
      .and.match(/it was gone for/);
    expect(await inventory()).to.deep.equal(before);
    expect(await leftoversOf(id, traces)).to.deep.equal([]);
  });

  it("cleans up after a run that was killed", async function () {
    this.timeout(240_000);
    const before = await inventory();
    const killed = run(kubeconfig, "this-machine");
    await killed.says("waiting until every node has what the sets say");
    await sleep(Math.random() * 1_000);
    process.kill(-killed.pid, "SIGKILL");
    expect(await leftoversOf(killed.id, killed.traces)).to.deep.equal([]);
    expect((await inventory()).length).to.be.greaterThan(before.length);
    const { code, output } = await finalizing(run(kubeconfig, "this-machine").ended);
    expect(code, output).to.equal(0);
    expect(await inventory()).to.deep.equal(before);
  });

  /** Stands in for the namespace controller, which this control plane does not have: lets deleted namespaces go. */
  async function finalizing<T>(ended: Promise<T>): Promise<T> {
    const result = await ended;
    const list = (await plane.admin.call("GET", "/api/v1/namespaces")).body["items"] as {
      metadata: { name: string; deletionTimestamp?: string };
    }[];
    for (const { metadata } of list.filter((namespace) => namespace.metadata.deletionTimestamp !== undefined)) {
      const leases = `/apis/coordination.k8s.io/v1/namespaces/${metadata.name}/leases`;
      await plane.admin.call("DELETE", leases);
      const body = { apiVersion: "v1", kind: "Namespace", metadata: { name: metadata.name }, spec: { finalizers: [] } };
      await plane.admin.call("PUT", `/api/v1/namespaces/${metadata.name}/finalize`, { body });
    }
    return result;
  }
});

function run(kubeconfig: string, node: string) {
  const id = newRunId();
  const traces = lookForTraces();
  const args = ["run", "quickstart", "--", "--once", "--kubeconfig", kubeconfig, "--node", node];
  const npm = spawn("npm", args, {
    cwd: root,
    env: { ...process.env, [runVariable]: id },
    stdio: ["ignore", "pipe", "pipe"],
    detached: true,
  });
  let output = "";
  const looks = new Set<() => void>();
  for (const stream of [npm.stdout, npm.stderr]) {
    stream.setEncoding("utf8").on("data", (text: string) => {
      output += text;
      for (const look of looks) look();
    });
  }
  const ended = new Promise<{ code: number | null; output: string }>((resolve) =>
    npm.on("exit", (code) => resolve({ code, output })),
  );
  const says = (text: string) =>
    new Promise<void>((resolve, reject) => {
      looks.add(() => output.includes(text) && resolve());
      void ended.then(() => reject(new Error(`ended before it said ${text}:\n${output}`)));
    });
  return { id, traces, pid: npm.pid ?? 0, ended, says };
}
