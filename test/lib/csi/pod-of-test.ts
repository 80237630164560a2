/** The pod that calls of the driver for pods are about in tests of the lane csi. */
export const podUID = "5b3f1d52-63d1-4fb5-9a3c-6a1c5fd4a0c1";

/** What kubelet passes on for it (behaviour 105), with the pod's own attribute. */
export const podContext: ReadonlyMap<string, string> = new Map([
  ["csi.storage.k8s.io/pod.uid", podUID],
  ["csi.storage.k8s.io/pod.namespace", "team-a"],
  ["csi.storage.k8s.io/pod.name", "web-0"],
  ["csi.storage.k8s.io/ephemeral", "true"],
  ["set", "datasets"],
]);

/** What the controller writes for a set that the pod uses. @param source a directory of the node */
export function intentForPod(
  { name, uid: nodeUID }: { readonly name: string; readonly uid: string },
  source: string,
): object {
  return {
    apiVersion: "nodevolume.dev/v1alpha1",
    kind: "NodeVolumeIntent",
    metadata: {
      name: `${name}.datasets`,
      labels: { "nodevolume.dev/node": name, "nodevolume.dev/set": "datasets" },
      finalizers: ["nodevolume.dev/in-use"],
    },
    spec: {
      nodeName: name,
      nodeUID,
      volumeName: "datasets",
      volumeMode: "Filesystem",
      mode: "Manage",
      grant: { id: "grant-1" },
      source: { hostPath: { path: source } },
      mounts: [],
      pods: [{ uid: podUID, namespace: "team-a", name: "web-0", volume: "data" }],
    },
  };
}
