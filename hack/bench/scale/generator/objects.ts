// What the generated objects look like: as large as a real cluster's, with what nobody reads, so that it is measured to
// leave it out.
import { finalizer, label, podDriver, readiness } from "../../../../src/api/names.ts";
import { managedBy } from "./managed-fields.ts";
import { drivers, type Shape } from "./shape.ts";

const born = "2026-11-20T08:00:00Z";

const isTrue = { status: "True", lastTransitionTime: born };
const podConditions = ["PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady", "PodScheduled"];
/** As the controller leaves the status of a pod whose volumes are there. */
const volumesReady = { type: readiness.podCondition, reason: "Mounted", message: "mounted: v1", ...isTrue };

/** PURE. A pod of some 3 KB: a container, the volumes that its claims are, a token, conditions and statuses. */
export function podObject(uses: boolean, { ordinary, ours }: Shape, served = false): object {
  const claims = uses ? [...Array(ordinary + ours).keys()] : [];
  const volumes = claims.map((k) =>
    k < ordinary
      ? { name: `v${k}`, persistentVolumeClaim: { claimName: `@claim${k}@` } }
      : {
          name: `v${k}`,
          csi: { driver: podDriver, volumeAttributes: { persistentVolumeClaim: `@claim${k}@`, readOnly: "false" } },
        },
  );
  const labels = { app: "app", "pod-template-hash": "5d9c7f8b6d", "app.kubernetes.io/part-of": "shop" };
  const spec = {
    volumes: [...volumes, { name: "kube-api-access-x7k2p", projected: projectedToken }],
    containers: ["app"].map((name) => container(name, claims)),
    restartPolicy: "Always",
    terminationGracePeriodSeconds: 30,
    dnsPolicy: "ClusterFirst",
    serviceAccountName: "default",
    serviceAccount: "default",
    nodeName: "@node@",
    securityContext: { fsGroup: 2000, runAsNonRoot: true },
    schedulerName: "default-scheduler",
    tolerations: ["not-ready", "unreachable"].map((key) => ({
      key: `node.kubernetes.io/${key}`,
      operator: "Exists",
      effect: "NoExecute",
      tolerationSeconds: 300,
    })),
    priority: 0,
    enableServiceLinks: true,
    preemptionPolicy: "PreemptLowerPriority",
  };
  const metadata = {
    name: "@name@",
    generateName: "app-5d9c7f8b6d-",
    namespace: "@namespace@",
    uid: "@uid@",
    resourceVersion: "@version@",
    creationTimestamp: born,
    labels,
    annotations: { "kubectl.kubernetes.io/restartedAt": born, "prometheus.io/scrape": "true" },
    ownerReferences: [
      { apiVersion: "apps/v1", kind: "ReplicaSet", name: "app-5d9c7f8b6d", uid: "@uid@", controller: true },
    ],
  };
  const status = {
    phase: "Running",
    conditions: [
      ...podConditions.map((type) => ({ type, ...isTrue, lastProbeTime: null })),
      ...(served ? [volumesReady] : []),
    ],
    qosClass: "Burstable",
  };
  return { kind: "Pod", apiVersion: "v1", metadata: managedBy(metadata, { spec, status }), spec, status };
}

const projectedToken = {
  sources: [
    { serviceAccountToken: { expirationSeconds: 3607, path: "token" } },
    { configMap: { name: "kube-root-ca.crt", items: [{ key: "ca.crt", path: "ca.crt" }] } },
  ],
  defaultMode: 420,
};

function container(name: string, claims: readonly number[]): object {
  return {
    name,
    image: "registry.example.com/shop/app:1.4.2",
    env: [{ name: "POD_NAME", valueFrom: { fieldRef: { apiVersion: "v1", fieldPath: "metadata.name" } } }],
    resources: { limits: { memory: "256Mi" }, requests: { cpu: "50m", memory: "128Mi" } },
    volumeMounts: [
      ...claims.map((k) => ({ name: `v${k}`, mountPath: `/data/${k}` })),
      { name: "kube-api-access-x7k2p", readOnly: true, mountPath: "/var/run/secrets/kubernetes.io/serviceaccount" },
    ],
    livenessProbe: {
      httpGet: { path: "/healthz", port: 8080, scheme: "HTTP" },
      periodSeconds: 10,
      failureThreshold: 3,
    },
    terminationMessagePath: "/dev/termination-log",
    terminationMessagePolicy: "File",
    imagePullPolicy: "IfNotPresent",
    securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ["ALL"] } },
  };
}

/** PURE. Of our own driver the claim is reserved by its owner (decision 0028); held, it has our marks. */
export function claimObject(isOurs: boolean, held = false): object {
  const driver = isOurs ? drivers.ours : drivers.ordinary;
  const metadata = {
    name: "@name@",
    namespace: "@namespace@",
    uid: "@uid@",
    resourceVersion: "@version@",
    creationTimestamp: born,
    labels: { app: "app", ...(isOurs && { [label.reserved]: "" }), ...(held && { [label.held]: "" }) },
    annotations: {
      "pv.kubernetes.io/bind-completed": "yes",
      "pv.kubernetes.io/bound-by-controller": "yes",
      "volume.kubernetes.io/storage-provisioner": driver,
    },
    finalizers: ["kubernetes.io/pvc-protection", ...(held ? [finalizer.inUse] : [])],
  };
  const resources = { requests: { storage: "10Gi" } };
  const accessModes = [isOurs ? "ReadWriteMany" : "ReadWriteOnce"];
  const spec = { accessModes, resources, volumeName: "@volume@", storageClassName: driver, volumeMode: "Filesystem" };
  const status = { phase: "Bound", accessModes, capacity: { storage: "10Gi" } };
  const kind = { kind: "PersistentVolumeClaim", apiVersion: "v1" };
  return { ...kind, metadata: managedBy(metadata, { spec, status }), spec, status };
}

export function persistentVolumeObject(isOurs: boolean, held = false): object {
  const driver = isOurs ? drivers.ours : drivers.ordinary;
  const metadata = {
    name: "@volume@",
    uid: "@uid@",
    resourceVersion: "@version@",
    creationTimestamp: born,
    annotations: { "pv.kubernetes.io/provisioned-by": driver },
    finalizers: ["kubernetes.io/pv-protection", ...(held ? [finalizer.inUse] : [])],
  };
  const claimRef = { kind: "PersistentVolumeClaim", apiVersion: "v1", namespace: "@namespace@", name: "@name@" };
  const volumeAttributes = {
    "storage.kubernetes.io/csiProvisionerIdentity": `1763625600000-8081-${driver}`,
    share: "/exports/@volume@",
  };
  const spec = {
    capacity: { storage: "10Gi" },
    csi: { driver, volumeHandle: "@volume@", volumeAttributes, ...(!isOurs && { fsType: "ext4" }) },
    accessModes: [isOurs ? "ReadWriteMany" : "ReadWriteOnce"],
    claimRef: { ...claimRef, uid: "@claimUID@", resourceVersion: "4711" },
    persistentVolumeReclaimPolicy: "Delete",
    storageClassName: driver,
    volumeMode: "Filesystem",
  };
  const status = { phase: "Bound", lastPhaseTransitionTime: born };
  const kind = { kind: "PersistentVolume", apiVersion: "v1" };
  return { ...kind, metadata: managedBy(metadata, { spec, status }), spec, status };
}

/** PURE. kubelet's side: named as kube-controller-manager names them. */
export function attachmentObject(): object {
  const metadata = {
    name: "csi-@name@",
    uid: "@uid@",
    resourceVersion: "@version@",
    creationTimestamp: born,
    finalizers: ["external-attacher/disk-example-com"],
    annotations: { "csi.alpha.kubernetes.io/node-id": "@node@" },
  };
  const spec = { attacher: drivers.ordinary, source: { persistentVolumeName: "@volume@" }, nodeName: "@node@" };
  const status = { attached: true };
  const kind = { kind: "VolumeAttachment", apiVersion: "storage.k8s.io/v1" };
  return { ...kind, metadata: managedBy(metadata, { spec, status }), spec, status };
}

/** PURE. Some 6 KB, as kubelet reports every five minutes: labels, conditions, and the images that are there. */
export function nodeObject(): object {
  const metadata = {
    name: "@name@",
    uid: "@uid@",
    resourceVersion: "@version@",
    creationTimestamp: born,
    labels: {
      "kubernetes.io/hostname": "@name@",
      "kubernetes.io/arch": "amd64",
      "kubernetes.io/os": "linux",
      "node.kubernetes.io/instance-type": "m7.2xlarge",
      "topology.kubernetes.io/zone": "zone-a",
    },
    annotations: { "volumes.kubernetes.io/controller-managed-attach-detach": "true" },
  };
  const spec = { podCIDR: "10.128.0.0/24", providerID: "example:///zone-a/@name@" };
  const status = {
    capacity: { cpu: "8", memory: "32Gi", pods: "110", "ephemeral-storage": "100Gi" },
    allocatable: { cpu: "7900m", memory: "30Gi", pods: "110", "ephemeral-storage": "90Gi" },
    conditions: ["MemoryPressure", "DiskPressure", "PIDPressure", "Ready"].map((type) => ({
      type,
      status: type === "Ready" ? "True" : "False",
      lastHeartbeatTime: "@heartbeat@",
      lastTransitionTime: born,
      reason: "KubeletReady",
      message: "kubelet is posting ready status",
    })),
    addresses: [
      { type: "InternalIP", address: "10.0.0.1" },
      { type: "Hostname", address: "@name@" },
    ],
    nodeInfo: { bootID: "@boot@", kernelVersion: "6.18.44", osImage: "Linux", kubeletVersion: "v1.36.3" },
    images: [...Array(30).keys()].map((i) => ({
      names: [
        `registry.example.com/shop/image-${i}@sha256:2f5a0c7b0c1e6d1f0b9b8b9c0a5f4d3e2c1b0a9f8e7d6c5b4a39281706f5e4d3`,
      ],
      sizeBytes: 100_000_000 + i,
    })),
  };
  return { kind: "Node", apiVersion: "v1", metadata: managedBy(metadata, { status }), spec, status };
}

export function csiNodeObject(): object {
  const metadata = { name: "@name@", uid: "@uid@", resourceVersion: "@version@", creationTimestamp: born };
  const drive = (name: string) => ({ name, nodeID: "@name@", topologyKeys: [], allocatable: { count: 127 } });
  const spec = { drivers: [drive(drivers.ordinary), drive(drivers.ours), { name: podDriver, nodeID: "@name@" }] };
  return { kind: "CSINode", apiVersion: "storage.k8s.io/v1", metadata, spec };
}

export function leaseObject(): object {
  const metadata = { name: "@name@", namespace: "nodevolume-system", uid: "@uid@", resourceVersion: "@version@" };
  const spec = { holderIdentity: "@name@", leaseDurationSeconds: 180, renewTime: "@heartbeat@" };
  return { kind: "Lease", apiVersion: "coordination.k8s.io/v1", metadata: managedBy(metadata, { spec }), spec };
}

export function namespaceObject(): object {
  const labels = { "kubernetes.io/metadata.name": "@name@", team: "@name@" };
  const metadata = { name: "@name@", uid: "@uid@", resourceVersion: "@version@", creationTimestamp: born, labels };
  return {
    kind: "Namespace",
    apiVersion: "v1",
    metadata,
    spec: { finalizers: ["kubernetes"] },
    status: { phase: "Active" },
  };
}
