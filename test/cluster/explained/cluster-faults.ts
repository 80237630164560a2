// Faults of sets as a whole, of pods and claims, of nodes with their agents, and of the cluster itself.
import { join } from "node:path";
import { writeKubeconfig } from "../../../hack/lib/control-plane/credentials.ts";
import { untilEnforced } from "../../../hack/lib/control-plane/install.ts";
import { startControlPlane } from "../../../hack/lib/control-plane/start.ts";
import { layout } from "../../../hack/lib/pretend-node/node.ts";
import { root } from "../../../hack/lib/root.ts";
import { locateTools } from "../../../hack/lib/tools/locate.ts";
import { until } from "../../../hack/lib/until.ts";
import { findCondition } from "../../../src/api/conditions.ts";
import type { TestNode, World } from "../../lib/cluster/world.ts";
import { type Fault, memory, mountsAt, onNode, pathOf, type Staging } from "./fault.ts";

const patience = 60_000;

const sets: readonly Fault[] = [
  {
    title: "The path of a set is not allowed",
    code: "PathNotAllowed",
    names: ["node-1", "/srv/audit", "/var/lib/nodevolume/mounts"],
    step: /kubectl edit nvs audit\b/,
    stage: ({ apply }) => apply("audit", { volume: memory, mounts: mountsAt("/srv/audit") }),
  },
  {
    title: "Two sets want one path",
    code: "Conflict",
    names: ["node-1", "set logs uses /var/lib/nodevolume/mounts/logs", "/var/lib/nodevolume/mounts/logs/old"],
    step: /kubectl edit nvs old-logs$/,
    async stage({ world, apply }) {
      await apply("logs", { volume: memory, mounts: mountsAt(pathOf("logs")) });
      await world.objects.ready("logs", 1);
      await apply("old-logs", { volume: memory, mounts: mountsAt(pathOf("logs/old")) });
    },
  },
  {
    title: "A set selects no node",
    code: "NoNodesSelected",
    names: ["example.com/gpu=yes"],
    step: /kubectl get nodes -l example\.com\/gpu=yes$/,
    async stage({ apply }) {
      const nodeSelector = { "example.com/gpu": "yes" };
      await apply("gpu-cache", { volume: memory, mounts: mountsAt(pathOf("gpu-cache")), nodeSelector });
    },
  },
  {
    title: "The only node of a set is cordoned",
    code: "NoNodesSelected",
    names: ["cordoned", "spec.drainPolicy", "kubernetes.io/hostname=node-2"],
    step: /uncordon a Node\. .* kubectl get nodes -l kubernetes\.io\/hostname=node-2$/,
    async stage({ world, apply, undo }) {
      const { adminKubectl } = world.cluster;
      const set = { volume: memory, mounts: mountsAt(pathOf("media")), drainPolicy: "Release", ...onNode("node-2") };
      await apply("media", set);
      await world.objects.ready("media", 1);
      await adminKubectl.run(["cordon", "node-2"]);
      undo.defer(() => adminKubectl.run(["uncordon", "node-2"]).then(() => undefined));
    },
  },
];

const namespace = "lab";
const core = (kind: string, name: string, spec: object) => ({
  apiVersion: "v1",
  kind,
  metadata: { name, ...(kind !== "PersistentVolume" && { namespace }) },
  spec,
});
const storage = (kind: string, name: string, spec: object) => ({
  apiVersion: "storage.k8s.io/v1",
  kind,
  metadata: { name },
  spec,
});

async function create({ world }: Staging, ...items: readonly object[]): Promise<void> {
  const list = { apiVersion: "v1", kind: "List", items };
  await world.cluster.adminKubectl.run(["apply", "-f", "-"], JSON.stringify(list));
}

/** Deletes objects; no controller of Kubernetes runs that would take their finalizers. */
async function destroy({ world }: Staging, ...names: readonly string[]): Promise<void> {
  const { adminKubectl } = world.cluster;
  await adminKubectl.run(["-n", namespace, "delete", "--wait=false", "--force", "--grace-period=0", ...names]);
  for (const name of names.filter((one) => /^(pv|pvc)\//.test(one)))
    await adminKubectl.try(["-n", namespace, "patch", name, "--type=merge", "-p", '{"metadata":{"finalizers":null}}']);
}

const labs = new WeakMap<Staging, Promise<void>>();

/** A namespace with the account that its controller would make. */
function lab(staging: Staging): Promise<void> {
  const space = { apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } };
  const account = { apiVersion: "v1", kind: "ServiceAccount", metadata: { name: "default", namespace } };
  const made = labs.get(staging) ?? create(staging, space, account);
  labs.set(staging, made);
  return made;
}

function podWith(name: string, volume: object, more: object = {}) {
  const containers = [
    { name: "main", image: "example.com/nothing", volumeMounts: [{ name: "data", mountPath: "/data" }] },
  ];
  return core("Pod", name, { containers, volumes: [{ name: "data", ...volume }], ...more });
}
const ofSet = (set: string) => ({ csi: { driver: "csi.nodevolume.dev", volumeAttributes: { set } } });

async function pod(staging: Staging, ...args: Parameters<typeof podWith>): Promise<void> {
  await create(staging, podWith(...args));
  staging.undo.defer(() => destroy(staging, `pod/${args[0]}`));
}

const claim = (name: string, spec: object) =>
  core("PersistentVolumeClaim", name, {
    accessModes: ["ReadWriteOnce"],
    resources: { requests: { storage: "1Gi" } },
    ...spec,
  });

const pods: readonly Fault[] = [
  {
    title: "A set does not allow the namespace of a pod",
    code: "NamespaceNotAllowed",
    names: ["lab", "datasets", "nodevolume.dev/volumes"],
    step: /kubectl get nvs datasets\b/,
    async stage(staging) {
      await staging.apply("datasets", { volume: memory, allowedNamespaces: { names: ["shop"] } });
      await lab(staging);
      await pod(staging, "try-0", ofSet("datasets"));
    },
  },
  {
    title: "A pod names a set that does not exist",
    code: "SetNotFound",
    names: ["dataset", "nodevolume.dev/volumes"],
    step: /kubectl get nodevolumesets$/,
    async stage(staging) {
      await lab(staging);
      await pod(staging, "typo-0", ofSet("dataset"));
    },
  },
  {
    title: "A claim names a StorageClass that does not exist",
    code: "ClaimNotBound",
    names: ["lab/notebooks", "fast"],
    step: /kubectl get storageclass$/,
    async stage(staging) {
      await lab(staging);
      await create(staging, claim("notebooks", { storageClassName: "fast" }));
      staging.undo.defer(() => destroy(staging, "pvc/notebooks"));
    },
  },
  {
    title: "The volume of a pod is attached to another node",
    code: "MultiAttach",
    names: ["node-1", "node-2", "csi-6b1f", "lab/db-0"],
    step: /kubectl -n lab delete pod db-0$/,
    async stage(staging) {
      await lab(staging);
      // Not of a driver whose disks cannot be told: node-1 would choose no disk by its properties (decision 0119).
      const driver = "rbd.csi.ceph.com";
      const drivers = [{ name: driver, nodeID: "node-2", topologyKeys: [] }];
      const source = { persistentVolumeName: "pv-pg" };
      await create(
        staging,
        storage("CSINode", "node-2", { drivers }),
        core("PersistentVolume", "pv-pg", {
          capacity: { storage: "1Gi" },
          accessModes: ["ReadWriteOnce"],
          claimRef: { apiVersion: "v1", kind: "PersistentVolumeClaim", namespace, name: "pg" },
          storageClassName: "disk",
          csi: { driver, volumeHandle: "pg-1" },
        }),
        claim("pg", { storageClassName: "disk", volumeName: "pv-pg" }),
        storage("VolumeAttachment", "csi-6b1f", { attacher: driver, nodeName: "node-1", source }),
      );
      staging.undo.defer(() => destroy(staging, "pvc/pg", "pv/pv-pg", "volumeattachment/csi-6b1f", "csinode/node-2"));
      // As kube-controller-manager and the external-attacher say it.
      const says = (object: string, status: object) =>
        staging.world.cluster.adminKubectl.run([
          ...["-n", namespace, "patch", object, "--subresource=status", "--type=merge"],
          ...["-p", JSON.stringify({ status })],
        ]);
      await says("pvc/pg", { phase: "Bound" });
      await says("volumeattachment/csi-6b1f", { attached: true });
      const volume = { persistentVolumeClaim: { claimName: "pg" } };
      await pod(staging, "db-0", volume, { nodeName: "node-1" });
      await pod(staging, "db-1", volume, { nodeName: "node-2" });
    },
  },
];

/** A node that has nothing but a volume of its own. */
async function steady({ world, apply }: Staging, node: TestNode): Promise<void> {
  await apply("steady", { volume: memory, mounts: mountsAt(pathOf("steady")), ...onNode(node.name) });
  await world.objects.ready("steady", 1, patience);
}

/** An agent that has looked at its node since. */
async function agentAnew(world: World, node: TestNode): Promise<void> {
  const before = world.objects.agentEpoch(node.name);
  node.agent = node.startAgent();
  await world.objects.until("the new agent", patience, () => world.objects.agentEpoch(node.name) > before);
}

const nodes: readonly Fault[] = [
  {
    title: "A mount is left whose intent is gone",
    code: "UnexplainedRemoval",
    names: ["node-3", "/var/lib/nodevolume/mounts/steady", "vanished without being deleted"],
    step: /umount \/var\/lib\/nodevolume\/mounts\/steady$/,
    alone: true,
    async stage(staging) {
      const { world, undo } = staging;
      const [, , node] = world.nodes;
      await steady(staging, node);
      const name = world.objects.intentOn("steady", node.name)?.metadata.name ?? "";
      // The controller would make the intent again at once: it has to stand still for the absence to be seen.
      process.kill(world.controller.pid, "SIGSTOP");
      undo.defer(async () => {
        process.kill(world.controller.pid, "SIGCONT");
        await world.objects.until(
          "a new intent",
          patience,
          () => world.objects.intentOn("steady", node.name) !== undefined,
        );
        await world.objects.ready("steady", 1, patience);
      });
      const { adminKubectl } = world.cluster;
      await adminKubectl.run(["patch", "nvi", name, "--type=merge", "-p", '{"metadata":{"finalizers":null}}']);
      await adminKubectl.run(["delete", "nvi", name]);
    },
  },
  {
    title: "The agent of a node does not run",
    code: "AgentLost",
    names: ["node-3"],
    step: /--field-selector spec\.nodeName=node-3\./,
    alone: true,
    async stage(staging) {
      const { world, undo } = staging;
      const [, , node] = world.nodes;
      await steady(staging, node);
      node.agent.kill("SIGKILL");
      await node.agent.ended;
      undo.defer(() => agentAnew(world, node));
      // It would run out three minutes later.
      const soon = JSON.stringify({ spec: { leaseDurationSeconds: 1 } });
      const lease = ["-n", "nodevolume-system", "patch", "lease", node.name, "--type=merge", "-p", soon];
      await world.cluster.adminKubectl.run(lease);
    },
  },
  {
    title: "The disk with the agent's journal is full",
    code: "JournalFailed",
    names: ["ENOSPC", `${layout.stateDir}/journal`, "node-3"],
    step: /on node-3 writable: df -h \/var\/lib\/nodevolume$/,
    alone: true,
    async stage(staging) {
      const { world, undo, apply } = staging;
      const [, , node] = world.nodes;
      await steady(staging, node);
      const resize = (size: string) => node.host.run("mount", "-o", `remount,size=${size}`, layout.stateDir);
      await node.host.run("rm", "-f", `${layout.stateDir}/journal.reserve`);
      const used = await node.host.run("df", "--output=used", "--block-size=1K", layout.stateDir);
      await resize(`${used.trim().split("\n").at(-1)?.trim()}k`);
      undo.defer(async () => {
        await resize("50%");
        for (const name of ["steady", "spool"]) await world.objects.ready(name, 1, patience);
      });
      // The last page of the journal has room for some lines: each repair writes one.
      await until("the journal to be full", patience, async () => {
        const { waiting } = world.objects.intentOn("steady", node.name)?.status ?? {};
        if (waiting?.reason === "JournalFailed") return true;
        if ((await node.mountsAt(pathOf("steady"))).length > 0) await node.host.run("umount", pathOf("steady"));
        return false;
      });
      await apply("spool", { volume: memory, mounts: mountsAt(pathOf("spool")), ...onNode(node.name) });
    },
  },
];

const clusters: readonly Fault[] = [
  {
    title: "An admission policy is not in force",
    code: "PolicyMissing",
    names: ["ValidatingAdmissionPolicyBinding nodevolume-intents"],
    step: /kubectl apply --server-side -k config\/policy\b/,
    alone: true,
    async stage(staging) {
      const { world, undo } = staging;
      const { adminKubectl, controlPlane } = world.cluster;
      await steady(staging, world.nodes[2]);
      await adminKubectl.run(["delete", "validatingadmissionpolicybinding", "nodevolume-intents"]);
      undo.defer(async () => {
        await adminKubectl.run(["apply", "-k", join(root, "config/policy")]);
        await untilEnforced(controlPlane);
        await world.objects.until("the controller to see it", patience, () => {
          const conditions = world.objects.sets.get("steady")?.status?.conditions;
          return findCondition(conditions, "PoliciesInForce") === undefined;
        });
      });
    },
  },
  {
    title: "The operator is not installed",
    code: "node-volume-operator is not installed",
    names: ["nodevolumeintents"],
    step: /kubectl get crd\b/,
    isError: true,
    alone: true,
    async stage({ directory, place, undo }) {
      const tools = await locateTools({ env: process.env, report: () => {} });
      const other = await startControlPlane({ tools, directory: join(directory, "other-cluster") });
      undo.defer(() => other.stop());
      const { server, ca, credentials } = other;
      writeKubeconfig(join(place, "other-cluster"), { server, ca, user: "admin", token: credentials.adminToken });
    },
  },
  {
    title: "The API server does not answer",
    code: "the cluster cannot be reached",
    names: ["no answer within", "https://127.0.0.1"],
    step: /kubectl get --raw \/readyz\b/,
    isError: true,
    alone: true,
    async stage({ world, undo }) {
      const { controlPlane, adminKubectl } = world.cluster;
      const server = controlPlane.apiServer();
      server.kill("SIGSTOP");
      undo.defer(async () => {
        server.kill("SIGCONT");
        await until("the API server to answer", patience, async () => {
          return (await adminKubectl.try(["get", "--raw", "/readyz"])).code === 0;
        });
      });
    },
  },
];

export const clusterFaults: readonly Fault[] = [...sets, ...pods, ...nodes, ...clusters];
