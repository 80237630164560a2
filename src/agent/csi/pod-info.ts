import type { CSIVolume } from "../../plugins/plugin.ts";

/** Who a volume is published for. Of a set, it is for the node: no pod, and none is made up. */
export type Consumer =
  | { readonly kind: "NodeVolumeSet" }
  | {
      readonly kind: "Pod";
      readonly namespace: string;
      readonly name: string;
      readonly uid: string;
      readonly serviceAccountName: string;
    };

/**
 * PURE. What a driver with podInfoOnMount finds in the volume context when it publishes (behaviour 105; kubelet: pkg/volume/csi/csi_util.go,
 * getPodInfoAttrs). Of a mount of a node there is only to say that the volume is Persistent (decision 0027).
 */
export function podInfoAttrs(consumer: Consumer): ReadonlyMap<string, string> {
  const ephemeral = ["csi.storage.k8s.io/ephemeral", "false"] as const;
  switch (consumer.kind) {
    case "NodeVolumeSet":
      return new Map([ephemeral]);
    case "Pod":
      return new Map([
        ["csi.storage.k8s.io/pod.name", consumer.name],
        ["csi.storage.k8s.io/pod.namespace", consumer.namespace],
        ["csi.storage.k8s.io/pod.uid", consumer.uid],
        ["csi.storage.k8s.io/serviceAccount.name", consumer.serviceAccountName],
        ephemeral,
      ]);
  }
}

/** PURE. The volume context of a publish: as of a stage, and for whom it is, if the driver asks for that. */
export function volumeContextFor(
  { volumeContext, podInfoOnMount }: Pick<CSIVolume, "volumeContext" | "podInfoOnMount">,
  consumer: Consumer,
): ReadonlyMap<string, string> {
  return podInfoOnMount ? new Map([...volumeContext, ...podInfoAttrs(consumer)]) : volumeContext;
}
