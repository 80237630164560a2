import type { NodeRef } from "../../../hack/lib/pretend-node/object.ts";
import { intentOn, leaseOf, paths } from "../cluster/policy-world.ts";

export const namespace = "matrix";
const api = "/api/v1";
const here = `${api}/namespaces/${namespace}`;
const storage = "/apis/storage.k8s.io/v1";
const apps = "/apis/apps/v1/namespaces/nodevolume-system";

type Made = readonly [
  path: string,
  body: {
    readonly metadata: { readonly name: string; readonly finalizers?: readonly string[] };
    readonly [more: string]: unknown;
  },
];

/** Every object that the matrix asks for and that the project does not bring: where it is made, and as what. */
export function matrixObjects(nodes: { readonly [of in "own" | "other" | "earlier"]: NodeRef }): Made[] {
  const meta = (name: string) => ({ metadata: { name } });
  const event = (namespace: string, host: string) => ({
    metadata: { name: host },
    involvedObject: { apiVersion: "nodevolume.dev/v1alpha1", kind: "NodeVolumeState", namespace, name: host },
    type: "Normal",
    reason: "Mounted",
    message: "it is there",
    source: { component: "nodevolume-agent", host },
    reportingComponent: "nodevolume-agent",
  });
  const pod = (node: NodeRef, secret: string) => ({
    metadata: { name: node.name },
    spec: {
      nodeName: node.name,
      containers: [{ name: "c", image: "none", volumeMounts: [{ name: "v", mountPath: "/v" }] }],
      volumes: [{ name: "v", secret: { secretName: secret } }],
    },
  });
  const modes = { accessModes: ["ReadWriteOnce"] };
  return [
    [paths.intents, intentOn(nodes.own, "matrix-own")],
    [paths.intents, intentOn(nodes.other, "matrix-other")],
    [paths.intents, intentOn(nodes.earlier, "matrix-earlier")],
    ["/apis/nodevolume.dev/v1alpha1/nodevolumesets", set],
    ...[nodes.own, nodes.other].flatMap(({ name }): Made[] => [
      [paths.states, { apiVersion: "nodevolume.dev/v1alpha1", kind: "NodeVolumeState", ...meta(name) }],
      [paths.leases, leaseOf(name)],
      ["/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases", leaseOf(name)],
      [`${here}/events`, event(namespace, name)],
      [`${api}/namespaces/default/events`, event("default", name)],
    ]),
    [paths.leases, leaseOf("nodevolume-controller")],
    ...["used", "unused", "token"].map((name): Made => [`${here}/secrets`, meta(name)]),
    [`${here}/configmaps`, meta("matrix")],
    [`${here}/pods`, pod(nodes.own, "used")],
    [`${here}/pods`, pod(nodes.other, "unused")],
    [`${here}/persistentvolumeclaims`, { ...meta("matrix"), spec: { ...modes, resources: size("requests") } }],
    [
      `${api}/persistentvolumes`,
      { ...meta("matrix"), spec: { ...modes, ...size("capacity"), hostPath: { path: "/x" } } },
    ],
    [
      `${api}/persistentvolumes`,
      {
        metadata: { name: "matrix-csi", finalizers: ["kubernetes.io/pv-protection"] },
        spec: { ...modes, ...size("capacity"), csi: { driver: "matrix.example", volumeHandle: "1" } },
      },
    ],
    [`${apps}/daemonsets`, workload("nodevolume-agent")],
    [`${apps}/deployments`, workload("nodevolume-controller")],
    [`${apps}/deployments`, workload("matrix")],
    [`${storage}/storageclasses`, { ...meta("matrix"), provisioner: "matrix.example" }],
    [`${storage}/csidrivers`, { ...meta("matrix.example"), spec: {} }],
    [`${storage}/csidrivers`, { ...meta("csi.nodevolume.dev"), spec: { volumeLifecycleModes: ["Ephemeral"] } }],
    [`${storage}/csinodes`, { ...meta("matrix-own"), spec: { drivers: [] } }],
    ...["matrix", `nvi-${"ab".padStart(64, "0")}`].map(
      (name): Made => [
        `${storage}/volumeattachments`,
        {
          ...meta(name),
          spec: { attacher: "matrix.example", nodeName: "matrix-own", source: { persistentVolumeName: "matrix" } },
        },
      ],
    ),
  ];
}

function workload(name: string) {
  const labels = { matrix: name };
  const template = { metadata: { labels }, spec: { containers: [{ name: "c", image: "none" }] } };
  return { metadata: { name }, spec: { selector: { matchLabels: labels }, template } };
}

const size = (of: string) => ({ [of]: { storage: "1Gi" } });

const set = {
  apiVersion: "nodevolume.dev/v1alpha1",
  kind: "NodeVolumeSet",
  metadata: { name: "matrix" },
  spec: {
    volume: { source: { emptyDir: { medium: "Memory" } } },
    mounts: [{ name: "host", path: "/mnt/nodevolume/matrix" }],
    nodeSelector: { matrix: "nowhere" },
  },
};
