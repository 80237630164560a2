// What GitOps does with config/default and sets, by kubectl as Flux applies (server-side) and by Argo CD's engine: each
// test goes on where the one before it ended.
import { execFile } from "node:child_process";
import { globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { expect } from "chai";
import { loadAll } from "js-yaml";
import { untilEnforced } from "../../hack/lib/control-plane/install.ts";
import { startControllerManager } from "../../hack/lib/csi/controller-manager.ts";
import { slowSuite } from "../../hack/lib/lanes/slow.ts";
import type { RunningProcess } from "../../hack/lib/process.ts";
import { root } from "../../hack/lib/root.ts";
import { locateTool } from "../../hack/lib/tools/locate.ts";
import { prepare, startCluster, type TestCluster } from "../lib/cluster/cluster.ts";
import { definitionsGuard } from "../lib/cluster/definitions-guard.ts";
import { type Objects, observe } from "../lib/cluster/objects.ts";
import { type CSITestNode, CSIWorld } from "../lib/csi/csi-world.ts";
import { blocksOf } from "../lib/docs/blocks.ts";
import { Argo } from "../lib/servers/argo.ts";

const run = promisify(execFile);
const healthLua = readFileSync(join(root, "config/gitops/argocd/health.lua"), "utf8");

interface KubeObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string; readonly resourceVersion?: string };
}

/** As Argo CD calls itself. */
const manager = "argocd-controller";
/** The test of which rights our programs use is not of a cluster in which they lose them all. */
const audit = { apiVersion: "audit.k8s.io/v1", kind: "Policy", rules: [{ level: "None" }] };
const pathOf = (name: string) => `/mnt/nodevolume/${name}`;
const setOf = (name: string) => ({
  apiVersion: "nodevolume.dev/v1alpha1",
  kind: "NodeVolumeSet",
  metadata: { name },
  spec: {
    volume: { source: { emptyDir: { medium: "Memory", sizeLimit: "1Mi" } } },
    mounts: [{ name: "host", path: pathOf(name) }],
  },
});

slowSuite("the operator and its sets from git", function () {
  let argo: Argo;
  let cluster: TestCluster;
  let world: CSIWorld;
  let node: CSITestNode;
  let objects: Objects;
  /** What kustomize makes of config/default. */
  let operator: KubeObject[];
  this.bail(true);

  before(async function () {
    prepare(this);
    argo = await Argo.locate();
    cluster = await startCluster({ audit });
    world = await CSIWorld.start(cluster);
    world.onEnd(() => cluster.controlPlane.stop());
    operator = loadAll(await cluster.kubectl.run(["kustomize", join(root, "config/default")])) as KubeObject[];
    objects = observe(cluster.people);
  });
  after(async function () {
    this.timeout(120_000);
    await world?.[Symbol.asyncDispose]();
  });

  const kubectl = (args: readonly string[], input?: string) => cluster.adminKubectl.run(args, input);
  const listOf = (items: readonly object[]) => JSON.stringify({ apiVersion: "v1", kind: "List", items });
  const apply = async (args: readonly string[], of: readonly object[]) =>
    versionsIn(await kubectl(["apply", "-f", "-", "-o", "json", ...args], listOf(of)));
  const gitops = () => ({ kubeconfig: cluster.adminKubectl.kubeconfig, serverSideApply: true });
  const sync = (application: string, resources: readonly object[]) =>
    argo.sync({ ...gitops(), application, resources });
  const syncSets = (...names: string[]) => sync("nodevolume-sets", names.map(setOf));
  const mounted = async (name: string) => (await node.mountsAt(pathOf(name))).length === 1;

  /** Objects that Argo CD would call OutOfSync, each with what it would change. */
  async function outOfSync(resources: readonly KubeObject[], how: object): Promise<unknown[]> {
    const get = ["get", "-f", "-", "-o", "json", "--show-managed-fields"];
    const { items } = JSON.parse(await kubectl(get, listOf(resources))) as { items: object[] };
    const found = await argo.diff({ ...gitops(), resources, live: items, ...how });
    expect(found).to.have.length(resources.length);
    return found.filter(({ modified }) => modified).map(({ live, predicted }) => ({ live, predicted }));
  }

  it("docs/tasks/gitops.md adds our health check to argocd-cm, and changes no other key", async () => {
    const config = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "argocd-cm", namespace: "argocd" } };
    await kubectl(["create", "namespace", "argocd"]);
    await kubectl(["apply", "-f", "-"], JSON.stringify({ ...config, data: { url: "https://a.b" } }));
    const command = blocksOf("docs/tasks/gitops.md").find(({ language }) => language === "sh")?.text ?? "false";
    const { program, kubeconfig } = cluster.adminKubectl;
    const PATH = `${dirname(program)}:${process.env["PATH"]}`;
    const env = { ...process.env, KUBECONFIG: kubeconfig, KUBECACHEDIR: cluster.directory, PATH };
    await run("sh", ["-ec", command], { cwd: root, env });
    const { data } = JSON.parse(await kubectl(["-n", "argocd", "get", "configmap", "argocd-cm", "-o", "json"])) as {
      data: object;
    };
    expect(data).to.deep.equal({
      url: "https://a.b",
      "resource.customizations.health.nodevolume.dev_NodeVolumeSet": healthLua,
    });
  });

  it("server-side apply, as of Flux and Argo CD, writes nothing the second time, and nothing is OutOfSync", async () => {
    const all = [...operator, ...samples()];
    const server = ["--server-side", "--force-conflicts", `--field-manager=${manager}`];
    // The first update of a set stores the status that its CRD defaults: no controller runs yet, which would write one.
    await apply(server, all);
    const first = await apply(server, all);
    expect(Object.keys(first)).to.have.length(all.length);
    expect(changed(first, await apply(server, all))).to.deep.equal([]);
    for (const how of [{ serverSideApply: true }, { serverSideApply: false }])
      expect(await outOfSync(all, how), JSON.stringify(how)).to.deep.equal([]);
  });

  it("client-side apply writes nothing the second time, and nothing is OutOfSync", async () => {
    const all = [...operator, ...samples()];
    const first = await apply([], all);
    expect(changed(first, await apply([], all))).to.deep.equal([]);
    expect(await outOfSync(all, { serverSideApply: false })).to.deep.equal([]);
  });

  it("Argo CD's engine syncs both, and calls the sets Healthy by our health.lua once they are mounted", async () => {
    await kubectl(["delete", "nodevolumesets", "--all"]);
    await startAll();
    expect(statusesOf(await sync("nodevolume-operator", operator))).to.deep.equal(["Synced"]);
    expect(statusesOf(await syncSets("kept", "dropped"))).to.deep.equal(["Synced"]);
    for (const name of ["kept", "dropped"]) await objects.ready(name, 1);
    const { items } = JSON.parse(await kubectl(["get", "nodevolumesets", "-o", "json"])) as { items: object[] };
    const scripts = { "nodevolume.dev/NodeVolumeSet": healthLua };
    const opinions = await argo.health({ healthLua: scripts, resources: items });
    expect(opinions.map(({ health, kstatus }) => [health?.status, kstatus])).to.deep.equal([
      ["Healthy", "Current"],
      ["Healthy", "Current"],
    ]);
  });

  it("a set whose file is deleted is pruned, and unmounted; the others stay as they are", async () => {
    const before = await node.mountsAt(pathOf("kept"));
    const synced = await syncSets("kept");
    expect(synced.filter(({ status }) => status === "Pruned").map(({ name }) => name)).to.deep.equal(["dropped"]);
    await objects.until("the set to be gone", 60_000, () => !objects.sets.has("dropped"));
    expect(await mounted("dropped")).to.equal(false);
    expect(await node.mountsAt(pathOf("kept"))).to.deep.equal(before);
  });

  it("the operator, pruned, leaves CRDs, their guard, the sets and what is mounted", async () => {
    const before = await node.mountsAt(pathOf("kept"));
    const pruned = await sync("nodevolume-operator", []);
    expect(statusesOf(pruned)).to.have.members(["Pruned", "PruneSkipped"]);
    const kept = pruned.filter(({ status }) => status === "PruneSkipped").map(({ kind }) => kind);
    expect(new Set(kept)).to.deep.equal(
      new Set(["CustomResourceDefinition", "ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding"]),
    );
    expect(kept).to.have.length(3 + definitionsGuard.length);
    const namespace = ["get", "namespace", "nodevolume-system", "--ignore-not-found", "-o", "name"];
    await objects.until("the namespace to be gone", 60_000, async () => (await kubectl(namespace)) === "");
    await stopAll();
    expect(await node.mountsAt(pathOf("kept"))).to.deep.equal(before);
    const state = ["get", "nodevolumesets", "kept", "-o", "jsonpath={.metadata.name} {.metadata.deletionTimestamp}"];
    expect(await kubectl(state)).to.equal("kept ");
  });

  it("the operator, back in git, goes on with what is mounted", async () => {
    const before = await node.mountsAt(pathOf("kept"));
    expect(statusesOf(await sync("nodevolume-operator", operator))).to.deep.equal(["Synced"]);
    await untilEnforced(cluster.controlPlane);
    const epoch = objects.agentEpoch(node.name);
    await startRoles();
    await objects.until("the agent to have looked", 60_000, () => objects.agentEpoch(node.name) > epoch);
    await objects.ready("kept", 1);
    expect(await node.mountsAt(pathOf("kept"))).to.deep.equal(before);
    await syncSets("kept", "added");
    await objects.ready("added", 1);
  });

  const running: RunningProcess[] = [];

  async function startRoles(): Promise<void> {
    running.push(await world.startController(), await node.startAgent());
  }

  /** As kubelet ends the pods of a namespace that is deleted. */
  async function stopAll(): Promise<void> {
    await Promise.all(running.splice(0).map((process) => process.stop()));
  }

  /**
   * One node, our programs, and what deletes namespaces and the dependents of what is deleted in the foreground, as
   * Argo CD does.
   */
  async function startAll(): Promise<void> {
    const { controlPlane: plane } = cluster;
    const { directory, logs } = world;
    const program = await locateTool("kube-controller-manager", { env: process.env, report: console.log });
    const controllers = ["garbage-collector-controller", "namespace-controller"];
    const manages = await startControllerManager({ plane, program, directory, logs, controllers });
    world.onEnd(() => manages.stop());
    node = await world.addNode("node-1");
    await startRoles();
  }
});

/** Every set of config/samples. */
function samples(): KubeObject[] {
  const files = globSync("config/samples/**/*.yaml", { cwd: root }).sort();
  const all = files.flatMap((file) => loadAll(readFileSync(join(root, file), "utf8")) as KubeObject[]);
  return all.filter(({ kind }) => kind === "NodeVolumeSet");
}

/** Resource versions by kind, namespace and name. */
function versionsIn(list: string): { [object: string]: string | undefined } {
  const { items } = JSON.parse(list) as { items: KubeObject[] };
  return Object.fromEntries(
    items.map(({ kind, metadata: { namespace, name, resourceVersion } }) => [
      `${kind} ${namespace ?? ""}/${name}`,
      resourceVersion,
    ]),
  );
}

/** Each status once. */
function statusesOf(synced: readonly { readonly status: string }[]): string[] {
  return [...new Set(synced.map(({ status }) => status))];
}

/** PURE. Objects with another resourceVersion. */
function changed(before: object, after: object): string[] {
  const versions = new Map(Object.entries(before));
  return Object.entries(after).flatMap(([name, version]) => (versions.get(name) === version ? [] : [name]));
}
