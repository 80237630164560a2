import { recordIn } from "../../kube/json.ts";

/**
 * PersistentVolumes of plugins that Kubernetes has neither kept nor translated to a CSI driver
 * (k8s.io/csi-translation-lib has none of them), by the member of `spec`, and what to do instead: only the volume's
 * owner knows its handle to another driver. Pure.
 */
const remedies: { readonly [member: string]: string } = {
  nfs: "name it in the set: source.nfs",
  hostPath: "name it in the set: source.hostPath",
  local: "name it in the set: source.local",
  flexVolume: "name it in the set: source.flexVolume, with the same options",
  iscsi: "name it in the set: source.iscsi, with the same target and LUN",
  fc: "name it in the set: source.fc, with the same targetWWNs and lun, or wwids",
  cephfs:
    "name it in the set: source.cephfs, or make one of the driver cephfs.csi.ceph.com for the same subvolume or rootPath",
  rbd: 'name it in the set: source.rbd, or make one of the driver rbd.csi.ceph.com for the same image (staticVolume: "true")',
  glusterfs: "name it in the set: source.glusterfs, with the hosts of its endpoints as servers",
  storageos:
    "copy the data to another volume: neither StorageOS nor its successor Ondat exist any more (whose driver knew volumes by ids; volumeName and volumeNamespace are names)",
  flocker: "name it in the set: source.flocker, where the product still runs",
  photonPersistentDisk: "copy the data to another volume: Photon Controller does not exist any more",
};

/** What a volume is of, and what to do about it: the end of a sentence. */
export function withoutDriver(raw: unknown): string {
  const spec = recordIn(raw, "spec");
  const member = Object.keys(remedies).find((one) => recordIn(spec, one) !== undefined);
  if (member === undefined) return "is not of a CSI driver: use a volume of one";
  return `is of ${member}, which no CSI driver has replaced by itself: ${remedies[member]}`;
}
