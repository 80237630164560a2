import { expectStatus, patch } from "../lib/cluster/policy-world.ts";
import { type AttachWorld, core, driver } from "./attach-world.ts";

/**
 * A claim and its PersistentVolume `NAMESPACE-NAME`, bound as kube-controller-manager would bind them.
 * @param nodeSelectorTerms the nodes that the volume can be attached to; all, if there are none
 */
export async function boundClaim(
  world: Pick<AttachWorld, "admin" | "create">,
  namespace: string,
  name: string,
  nodeSelectorTerms?: readonly object[],
): Promise<void> {
  const accessModes = ["ReadWriteOnce"];
  const storage = {
    resources: { requests: { storage: "1Gi" } },
    storageClassName: "",
    volumeName: `${namespace}-${name}`,
  };
  const at = `/api/v1/namespaces/${namespace}/persistentvolumeclaims`;
  const body = core("PersistentVolumeClaim", { metadata: { name }, spec: { accessModes, ...storage } });
  const { uid } = (await world.create(at, body))["metadata"] as { uid: string };
  const spec = {
    capacity: { storage: "1Gi" },
    accessModes,
    csi: { driver, volumeHandle: `${namespace}-${name}`, fsType: "xfs" },
    claimRef: { apiVersion: "v1", kind: "PersistentVolumeClaim", namespace, name, uid },
    storageClassName: "",
    ...(nodeSelectorTerms && { nodeAffinity: { required: { nodeSelectorTerms } } }),
  };
  const metadata = { name: `${namespace}-${name}` };
  await world.create("/api/v1/persistentvolumes", core("PersistentVolume", { metadata, spec }));
  const status = { phase: "Bound", accessModes, capacity: { storage: "1Gi" } };
  expectStatus(200, await patch(world.admin, `${at}/${name}/status`, { status }));
}
