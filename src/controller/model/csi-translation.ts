import type { SecretReference } from "../../api/types.gen.ts";
import { type JsonObject, numberIn, recordIn, stringIn } from "../../kube/json.ts";
import type { AccessMode } from "./access.ts";

/** The CSI source of a PersistentVolume (core/v1 CSIPersistentVolumeSource). */
export interface PersistentVolumeCSI {
  readonly driver: string;
  readonly volumeHandle: string;
  readonly readOnly: boolean;
  readonly fsType: string;
  readonly volumeAttributes: { readonly [key: string]: string };
  readonly nodeStageSecretRef: SecretReference | undefined;
  readonly nodePublishSecretRef: SecretReference | undefined;
  readonly nodeExpandSecretRef: SecretReference | undefined;
}

/**
 * The PersistentVolumes of plugins that Kubernetes has replaced by CSI drivers, as their drivers know them: the same
 * handles and attributes as kubelet and kube-controller-manager make of them (k8s.io/csi-translation-lib v0.36.3,
 * TranslateInTreePVToCSI of each file in plugins/), or two would use one volume under two names. Pure.
 */
export interface Translation {
  readonly csi: PersistentVolumeCSI;
  readonly accessModes: readonly AccessMode[];
}

interface InTreeVolume {
  readonly name: string;
  readonly source: JsonObject;
  readonly labels: { readonly [key: string]: string };
  readonly annotations: { readonly [key: string]: string };
  readonly claimNamespace: string;
}

type Identity = Pick<PersistentVolumeCSI, "driver" | "volumeHandle">;
type Translated = Partial<PersistentVolumeCSI> & Identity;

/** By the member of `spec` that names the volume. undefined: such a volume has no CSI driver to be translated to. */
const table: { readonly [member: string]: (volume: InTreeVolume) => Translated | undefined } = {
  awsElasticBlockStore({ source }) {
    const volumeHandle = ebsVolumeID(stringIn(source, "volumeID") ?? "");
    const volumeAttributes = { partition: String(numberIn(source, "partition") ?? 0) };
    return volumeHandle === undefined ? undefined : { driver: "ebs.csi.aws.com", volumeHandle, volumeAttributes };
  },
  gcePersistentDisk({ source, labels }) {
    const place = gcePlace(labels[zoneLabels.beta] || labels[zoneLabels.ga] || "");
    const partition = numberIn(source, "partition") ?? 0;
    const volumeAttributes = { partition: partition === 0 ? "" : String(partition) };
    const volumeHandle = `projects/UNSPECIFIED/${place}/disks/${stringIn(source, "pdName") ?? ""}`;
    return place === undefined ? undefined : { driver: "pd.csi.storage.gke.io", volumeHandle, volumeAttributes };
  },
  azureDisk({ source }) {
    const kind = stringIn(source, "kind");
    if (kind !== undefined && kind.toLowerCase() !== "managed") return undefined;
    const [fsType, cachingMode] = [stringIn(source, "fsType"), stringIn(source, "cachingMode")];
    const volumeAttributes = {
      kind: "Managed",
      ...(cachingMode !== undefined && { cachingmode: cachingMode }),
      ...(fsType !== undefined && { fstype: fsType }),
    };
    return { driver: "disk.csi.azure.com", volumeHandle: stringIn(source, "diskURI") ?? "", volumeAttributes };
  },
  azureFile({ name, source, annotations, claimNamespace }) {
    const secretName = stringIn(source, "secretName") ?? "";
    const namespace = stringIn(source, "secretNamespace") ?? claimNamespace;
    const sharename = stringIn(source, "shareName") ?? "";
    if (namespace === "") return undefined;
    const account = /azure-storage-account-(.+)-secret/.exec(secretName)?.[1] ?? secretName;
    const group = annotations["kubernetes.io/azure-file-resource-group"] ?? "";
    return {
      driver: "file.csi.azure.com",
      volumeHandle: [group, account, sharename, name, namespace].join("#"),
      fsType: "",
      volumeAttributes: { sharename },
      nodeStageSecretRef: { namespace, name: secretName },
    };
  },
  cinder: ({ source }) => ({ driver: "cinder.csi.openstack.org", volumeHandle: stringIn(source, "volumeID") ?? "" }),
  vsphereVolume({ source }) {
    const policy = stringIn(source, "storagePolicyName") ?? "";
    return {
      driver: "csi.vsphere.vmware.com",
      volumeHandle: stringIn(source, "volumePath") ?? "",
      readOnly: false,
      volumeAttributes: policy === "" ? {} : { storagepolicyname: policy },
    };
  },
  portworxVolume({ source, annotations }) {
    const [name, namespace] = [
      annotations["openstorage.io/auth-secret-name"],
      annotations["openstorage.io/auth-secret-namespace"],
    ];
    const secret: SecretReference | undefined =
      name === undefined || namespace === undefined ? undefined : { namespace, name };
    return {
      driver: "pxd.portworx.com",
      volumeHandle: stringIn(source, "volumeID") ?? "",
      readOnly: false,
      nodeStageSecretRef: secret,
      nodePublishSecretRef: secret,
      nodeExpandSecretRef: secret,
    };
  },
};

/** @returns undefined if the volume is of none of these plugins, or of a kind that its driver does not take */
export function translateInTree(raw: unknown): Translation | undefined {
  const metadata = recordIn(raw, "metadata");
  const spec = recordIn(raw, "spec");
  for (const [member, translate] of Object.entries(table)) {
    const source = recordIn(spec, member);
    if (source === undefined) continue;
    const found = translate({
      name: stringIn(metadata, "name") ?? "",
      source,
      labels: (recordIn(metadata, "labels") ?? {}) as { [key: string]: string },
      annotations: (recordIn(metadata, "annotations") ?? {}) as { [key: string]: string },
      claimNamespace: stringIn(recordIn(spec, "claimRef"), "namespace") ?? "",
    });
    const modes = (spec?.["accessModes"] ?? []) as AccessMode[];
    const accessModes = member === "gcePersistentDisk" ? gceAccessModes(modes) : modes;
    return found && { csi: { ...csiDefaults(source), ...found }, accessModes };
  }
  return undefined;
}

/**
 * What a driver is told where nothing else is known of a volume of a plugin.
 * @param source of the plugin, in the PersistentVolume
 */
export function csiDefaults(source: JsonObject): Omit<PersistentVolumeCSI, keyof Identity> {
  return {
    readOnly: source["readOnly"] === true,
    fsType: stringIn(source, "fsType") ?? "",
    volumeAttributes: {},
    nodeStageSecretRef: undefined,
    nodePublishSecretRef: undefined,
    nodeExpandSecretRef: undefined,
  };
}

/** vol-… or aws://<zone>/vol-… */
function ebsVolumeID(volumeID: string): string | undefined {
  if (!volumeID.startsWith("aws://")) return volumeID;
  return /^aws:\/\/[^/]*\/+(vol-[^/]*)\/*$/.exec(volumeID)?.[1];
}

/** The zones of a disk as a part of its handle: of one, of a region, or of none that is known. */
function gcePlace(label: string): string | undefined {
  if (label === "") return "zones/UNSPECIFIED";
  const zones = label.split("__");
  if (zones.length === 1) return `zones/${label}`;
  const regions = new Set(zones.map((zone) => /^([^-]*-[^-]*)-[^-]*$/.exec(zone)?.[1]));
  const [region] = regions;
  return regions.size === 1 && region !== undefined ? `regions/${region}` : undefined;
}

/** The plugin had checked none of them: a disk is one node's, or read by many. */
function gceAccessModes(modes: readonly AccessMode[]): AccessMode[] {
  return modes.length === 1 && modes[0] === "ReadOnlyMany" ? ["ReadOnlyMany"] : ["ReadWriteOnce"];
}

/** Where a volume lies, by labels of its PersistentVolume and of Nodes; the beta name is of old PersistentVolumes. */
export const zoneLabels = {
  ga: "topology.kubernetes.io/zone",
  beta: "failure-domain.beta.kubernetes.io/zone",
} as const;
