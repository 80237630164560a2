import type { ApiClient } from "../../../hack/lib/api-client.ts";
import { createNodeObject } from "../../../hack/lib/pretend-node/object.ts";
import { paths } from "../cluster/policy-world.ts";
import { fillIntents } from "./cli-intents.ts";
import { ago, condition, type Fields, posting, setsPath } from "./cli-post.ts";

const storage = "/apis/storage.k8s.io/v1";

/**
 * What the documentation of kubectl nvi and its tests are about: a shop on three nodes, and what is in the way there.
 */
export async function fillCluster(admin: ApiClient): Promise<void> {
  const post = posting(admin);
  const nodeUIDs = new Map<string, string>();
  for (const name of ["worker-1", "worker-2", "worker-3", "worker-4"]) {
    nodeUIDs.set(name, (await createNodeObject(admin, name)).uid);
    const drivers = name === "worker-3" ? [] : ["disk.example", "csi.nodevolume.dev"];
    const spec = { drivers: drivers.map((driver) => ({ name: driver, nodeID: name, topologyKeys: [] })) };
    await post(`${storage}/csinodes`, { metadata: { name }, spec });
    const lost = name === "worker-3";
    const spec_ = {
      holderIdentity: name,
      leaseDurationSeconds: lost ? 180 : 7200,
      renewTime: `${ago(lost ? 1500 : 5).slice(0, -1)}.000000Z`,
    };
    await post(paths.leases, { metadata: { name }, spec: spec_ });
  }

  const nfs = { nfs: { server: "nas.example", path: "/datasets" } };
  const mount = (name: string) => [{ name: "host", path: `/var/lib/nodevolume/mounts/${name}` }];
  const failing = [
    { node: "worker-2", reason: "ServerUnreachable", message: "nas.example does not answer on port 2049" },
    { node: "worker-3", reason: "AgentLost", message: "the agent's Lease ran out" },
  ];
  await post(
    setsPath,
    {
      metadata: { name: "datasets" },
      spec: { volume: { source: nfs }, mounts: mount("datasets"), allowedNamespaces: { names: ["shop"] } },
    },
    {
      observedGeneration: 1,
      desired: 3,
      updated: 3,
      ready: 1,
      failing,
      conditions: [condition("Ready", "False", "NodesNotReady", "2 of 3 nodes are not ready")],
    },
  );
  const memory = { emptyDir: { medium: "Memory" } };
  const allReady = {
    observedGeneration: 1,
    desired: 1,
    updated: 1,
    ready: 1,
    conditions: [condition("Ready", "True", "AllReady")],
  };
  await post(
    setsPath,
    { metadata: { name: "scratch" }, spec: { volume: { source: memory }, mounts: mount("scratch") } },
    allReady,
  );

  const pods = new Map<string, string>();
  const pod = async (name: string, node: string, volume: Fields, started: boolean, namespace = "shop") => {
    const spec = {
      nodeName: node,
      automountServiceAccountToken: false,
      containers: [{ name: "main", image: "shop", volumeMounts: [{ name: "data", mountPath: "/data" }] }],
      volumes: [{ name: "data", ...volume }],
    };
    const state = started ? { running: { startedAt: ago(3000) } } : { waiting: { reason: "ContainerCreating" } };
    const containerStatuses = [{ name: "main", image: "shop", imageID: "", ready: started, restartCount: 0, state }];
    const status = { phase: started ? "Running" : "Pending", containerStatuses };
    const made = await post(`/api/v1/namespaces/${namespace}/pods`, { metadata: { name }, spec }, status);
    pods.set(name, made.uid);
    return made;
  };
  await admin.call("POST", "/api/v1/namespaces", { body: { metadata: { name: "lab" } } });
  for (const namespace of ["shop", "lab"])
    await post(`/api/v1/namespaces/${namespace}/serviceaccounts`, { metadata: { name: "default" } });
  const ours = { csi: { driver: "csi.nodevolume.dev", volumeAttributes: { set: "datasets" } } };
  await pod("web-0", "worker-1", ours, true);
  await pod("web-1", "worker-2", ours, false);
  await pod("try-0", "worker-1", ours, false, "lab");
  await pod("db-0", "worker-1", { persistentVolumeClaim: { claimName: "pg" } }, true);
  const second = await pod("db-1", "worker-2", { persistentVolumeClaim: { claimName: "pg" } }, false);
  await pod("report-0", "worker-1", { persistentVolumeClaim: { claimName: "reports" } }, false);

  const claims = "/api/v1/namespaces/shop/persistentvolumeclaims";
  const claim = (name: string, more: Fields) => ({
    metadata: { name },
    spec: {
      accessModes: ["ReadWriteOnce"],
      resources: { requests: { storage: "1Gi" } },
      storageClassName: "fast",
      ...more,
    },
  });
  const pg = await post(claims, claim("pg", { volumeName: "pv-pg" }), { phase: "Bound" });
  await post(claims, claim("reports", {}), { phase: "Pending" });
  const claimRef = { namespace: "shop", name: "pg", uid: pg.uid };
  const csi = { driver: "disk.example", volumeHandle: "vol-17" };
  await post("/api/v1/persistentvolumes", {
    metadata: { name: "pv-pg" },
    spec: { accessModes: ["ReadWriteOnce"], capacity: { storage: "1Gi" }, storageClassName: "fast", claimRef, csi },
  });
  await post(
    `${storage}/volumeattachments`,
    {
      metadata: { name: "csi-6b1f" },
      spec: { attacher: "disk.example", nodeName: "worker-1", source: { persistentVolumeName: "pv-pg" } },
    },
    { attached: true },
  );
  await post("/api/v1/namespaces/shop/events", {
    metadata: { name: "db-1.1" },
    involvedObject: { kind: "Pod", namespace: "shop", name: "db-1", uid: second.uid },
    type: "Warning",
    reason: "FailedAttachVolume",
    message: 'Multi-Attach error for volume "pv-pg" Volume is already used by pod(s) db-0',
    count: 1,
    firstTimestamp: ago(200),
    lastTimestamp: ago(200),
  });
  await fillIntents(admin, nodeUIDs, pods);
}
