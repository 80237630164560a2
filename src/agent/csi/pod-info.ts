import type { CSIVolume } from "../../plugins/plugin.ts";

const prefix = "csi.storage.k8s.io/";
const tokens = `${prefix}serviceAccount.tokens`;

/**
 * PURE. The volume context of a publish: as of a stage, and for whom it is, if the driver asks for that (behaviour 105; kubelet:
 * pkg/volume/csi/csi_util.go, getPodInfoAttrs). A mount of a node has no pod, and none is made up: there is only to say that the volume
 * is Persistent (decision 0027). Nor do the volume's attributes make one up, which whoever writes a set chooses: what kubelet puts its
 * own in the place of is left out, and a token always, for a driver takes it for kubelet's.
 */
export function volumeContextFor({
  volumeContext,
  podInfoOnMount,
}: Pick<CSIVolume, "volumeContext" | "podInfoOnMount">): ReadonlyMap<string, string> {
  const own = [...volumeContext].filter(([key]) => key !== tokens && !(podInfoOnMount && namesAPod(key)));
  return new Map(podInfoOnMount ? [...own, [`${prefix}ephemeral`, "false"] as const] : own);
}

function namesAPod(key: string): boolean {
  return key.startsWith(`${prefix}pod.`) || key.startsWith(`${prefix}serviceAccount.`);
}
