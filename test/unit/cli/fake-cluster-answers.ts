/** What a cluster may hold that nobody shall find in an archive. */
export const canaries = {
  /** Nothing tells that these are secret but where they stand. */
  everywhere: [
    "canary-annotation",
    "canary-copy",
    "canary-context",
    "canary-attribute",
    "canary-attached",
    "canary-env",
  ],
  /** These have the shape of what they are. */
  shaped: [
    "canary-password",
    "canary-of-url",
    "canary-bearer-0123456789",
    "eyJhbGciOiJub25lIn0.eyJzdWIiOiJjYW5hcnkifQ.canarysignature",
    "MIIcanarykeymaterial",
    "canary-in-json",
    "canary-other-setting",
  ],
} as const;

const [annotation, copy, publish, attribute, attached, variable] = canaries.everywhere;
const [password, ofURL, bearer, jwt, key, inJSON, other] = canaries.shaped;

const list = (...items: object[]) => ({ metadata: {}, items });
const ns = "/api/v1/namespaces/nodevolume-system";
const event = (name: string, host: string) => ({
  metadata: { name },
  involvedObject: { kind: "NodeVolumeIntent", name: `${host}.data-1` },
  source: { component: "nodevolume-agent", host },
  message: `mount failed: password=${password}`,
});

const pod = (name: string, role: string, nodeName: string, restartCount = 0) => ({
  metadata: {
    name,
    labels: { "app.kubernetes.io/name": "node-volume-operator", "app.kubernetes.io/component": role },
    annotations: { "sidecar.example/config": annotation },
  },
  spec: {
    nodeName,
    containers: [
      {
        name: role,
        image: "node-volume-operator:0.1.0",
        env: [
          { name: "NODEVOLUME_LOG_LEVEL_DIR", value: "/etc/nodevolume/log-level" },
          { name: "HTTPS_PROXY", value: variable },
        ],
        ...(role !== "agent" && { ports: [{ name: "metrics", containerPort: 9808 }] }),
      },
    ],
    ...(role === "agent" && {
      initContainers: [
        { name: "api-proxy", restartPolicy: "Always", ports: [{ name: "metrics", containerPort: 9818 }] },
      ],
    }),
  },
  status: {
    conditions: [{ type: "Ready", status: "True" }],
    containerStatuses: [{ name: role, restartCount, image: "node-volume-operator:0.1.0" }],
    ...(role === "agent" && { initContainerStatuses: [{ name: "api-proxy", restartCount: 0 }] }),
  },
});

/** A small cluster by its paths, with a canary wherever one may be. */
export function fakeClusterAnswers(): { readonly [path: string]: unknown } {
  const intent = (node: string, ready: boolean) => ({
    metadata: {
      name: `${node}.data-1`,
      managedFields: [{ manager: annotation }],
      annotations: {
        "kubectl.kubernetes.io/last-applied-configuration": `{"x":"${copy}"}`,
        "team.example/note": annotation,
      },
    },
    spec: {
      nodeName: node,
      source: { csi: { driver: "disk.example", volumeHandle: "share-7", volumeAttributes: { key: attribute } } },
      grant: { id: "g", publishContext: { session: publish } },
    },
    status: {
      conditions: [
        {
          type: "Ready",
          status: ready ? "True" : "False",
          reason: ready ? "Mounted" : "ServerUnreachable",
          message: ready ? "" : "nas does not answer",
          lastTransitionTime: "2026-11-25T22:00:00Z",
        },
        { type: "Drifted", status: "False" },
      ],
    },
  });
  const node = (name: string) => ({
    metadata: { name, annotations: { "cloud.example/token": annotation } },
    spec: { providerID: `cloud:///${name}` },
    status: {
      nodeInfo: { containerRuntimeVersion: "containerd://2.2" },
      addresses: [{ type: "InternalIP", address: "192.0.2.7" }],
      conditions: [{ type: "Ready", status: "True" }],
    },
  });
  const attachment = (name: string, nodeName: string) => ({
    metadata: { name },
    spec: { nodeName },
    status: { attached: true, attachmentMetadata: { lun: attached } },
  });
  const pem = `-----BEGIN EC PRIVATE KEY-----\n${key}\n-----END EC PRIVATE KEY-----`;
  const log = [
    `{"message":"fetch https://bot:${ofURL}@git.example/x failed"}`,
    `{"message":"authorization: Bearer ${bearer}"}`,
    `{"message":"driver said {\\"password\\":\\"${inJSON}\\"} and ${jwt}"}`,
    pem,
    "",
  ].join("\n");
  return {
    "/version": { gitVersion: "v1.36.3" },
    "/api/v1/nodes/worker-1": node("worker-1"),
    "/apis/nodevolume.dev/v1alpha1/nodevolumesets": list(),
    "/apis/nodevolume.dev/v1alpha1/nodevolumeintents": list(intent("worker-1", false), intent("worker-2", true)),
    "/api/v1/nodes": list(node("worker-1"), node("worker-2")),
    "/apis/storage.k8s.io/v1/volumeattachments": list(attachment("on-1", "worker-1"), attachment("on-2", "worker-2")),
    "/api/v1/events?source=nodevolume-agent": list(event("of-1", "worker-1"), event("of-2", "worker-2")),
    [`${ns}/pods`]: list(
      pod("nodevolume-controller-1", "controller", "master"),
      pod("nodevolume-agent-1", "agent", "worker-1", 1),
      pod("nodevolume-agent-2", "agent", "worker-2"),
    ),
    [`${ns}/configmaps`]: list(
      {
        metadata: { name: "nodevolume-settings-abc" },
        data: { NODEVOLUME_ALLOWED_PREFIXES: "/mnt/nodevolume", extra: other },
      },
      { metadata: { name: "nodevolume-log-level" }, data: { agents: "debug" } },
      { metadata: { name: "somebody-elses" }, data: { all: other } },
    ),
    [`${ns}/pods/nodevolume-controller-1/log`]: "started\nleads\n",
    [`${ns}/pods/nodevolume-agent-1/log`]: log,
    [`${ns}/pods/nodevolume-agent-1/log?previous`]: "ended\n",
    [`${ns}/pods/nodevolume-agent-2/log`]: { message: "agent started" },
    [`${ns}/pods/nodevolume-controller-1:9808/proxy/metrics`]: "nodevolume_controller_leader 1\n",
    [`${ns}/pods/nodevolume-agent-1:9818/proxy/metrics`]: "nodevolume_agent_plans_unexplained_total 0\n",
    [`${ns}/pods/nodevolume-agent-2:9818/proxy/metrics`]: "nodevolume_agent_plans_unexplained_total 0\n",
  };
}
