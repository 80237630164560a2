import type { KubeObject } from "../../api/meta.ts";
import type { SecretReference } from "../../api/types.gen.ts";
import { arrayIn, type JsonObject, recordIn, stringIn } from "../../kube/json.ts";
import { attachErrorCode } from "../../kube/objects/attach-error.ts";
import { controllerOf } from "../../kube/objects/controller-of.ts";
import type { AccessMode } from "./access.ts";
import { type PersistentVolumeCSI, translateInTree } from "./csi-translation.ts";
import { translateDropped } from "./csi-translation-dropped.ts";
import { nodeTerms } from "./node-terms.ts";
import { projectMetadata } from "./projections.ts";
import { withoutDriver } from "./without-driver.ts";

/** Projections of storage objects: the fields that decisions depend on, and no others. Pure. */

/** Whether the group of a volume's files is changed (behaviour 107). */
type FSGroupPolicy = "None" | "File" | "ReadWriteOnceWithFSType";

/** A PersistentVolumeClaim, reduced to what decisions need. */
export interface Claim extends KubeObject {
  /** UID of what controls it, as a pod does the claim of its generic ephemeral volume. */
  readonly controllerUID: string | undefined;
  /** "" until it is bound. */
  readonly volumeName: string;
  readonly storageClassName: string;
  readonly phase: string;
  /** As the API server has them, as the growth of the volume is written there. */
  readonly status: JsonObject;
}

/**
 * A PersistentVolume, reduced to what decisions need. In-tree volumes that a CSI driver has taken over are translated,
 * as kubelet's csi-translation-lib does.
 */
export interface PersistentVolume extends KubeObject {
  /** Also of a volume whose plugin a driver has replaced. undefined: of no CSI driver. */
  readonly csi: PersistentVolumeCSI | undefined;
  /** Of no CSI driver: of what else, and what to do, as the end of a sentence. */
  readonly unusable?: string;
  /** Only we know it as its driver does: the external-attacher has to be told of it in the VolumeAttachment. */
  readonly attachedInline?: true;
  readonly accessModes: readonly AccessMode[];
  readonly volumeMode: string;
  readonly mountOptions: readonly string[];
  readonly claimRef: { readonly namespace: string; readonly name: string; readonly uid: string } | undefined;
  /** The quantity as it stands there; "" if there is none. */
  readonly capacity: string;
  /** nodeSelectorTerms of the required node affinity; undefined: any node. */
  readonly nodeTerms: readonly unknown[] | undefined;
}

/** A VolumeAttachment, reduced to what decisions need. Ours are recognized by name (decision 0100). */
export interface Attachment extends KubeObject {
  readonly attacher: string;
  readonly nodeName: string;
  /** "" if the volume is named inline. */
  readonly persistentVolumeName: string;
  /** Of an inline source. */
  readonly inline: { readonly driver: string; readonly volumeHandle: string } | undefined;
  readonly attached: boolean;
  readonly metadataOfDriver: { readonly [key: string]: string };
  /** "" if the last attempt went well, or there was none. */
  readonly attachError: string;
  /** The gRPC code of that; undefined if the attacher does not say it. */
  readonly attachErrorCode: number | undefined;
  readonly detachError: string;
}

/** A CSINode: the drivers that are registered on a node. `limit` is allocatable.count; undefined: no limit. */
export interface CSINode extends KubeObject {
  readonly drivers: readonly { readonly name: string; readonly nodeID: string; readonly limit: number | undefined }[];
}

/** A CSIDriver, reduced to what decisions need. */
export interface CSIDriver extends KubeObject {
  readonly attachRequired: boolean;
  /**
   * It is given tokens of the pod that a volume is published for, for these audiences, and acts as that
   * (tokenRequests).
   */
  readonly tokenAudiences: readonly string[];
  readonly tokensInSecrets: boolean;
  /** volumeLifecycleModes: what its volumes may be, those of PersistentVolumes, or those that live as long as a pod. */
  readonly lifecycleModes: readonly string[];
  readonly requiresRepublish: boolean;
  readonly podInfoOnMount: boolean;
  readonly fsGroupPolicy: FSGroupPolicy;
  readonly seLinuxMount: boolean;
}

/** A StorageClass, reduced to what decisions need. */
export interface StorageClass extends KubeObject {
  readonly provisioner: string;
  readonly waitForFirstConsumer: boolean;
}

/** PURE. A PersistentVolumeClaim from the API server's JSON; undefined if it has no metadata. */
export function projectClaim(raw: unknown): Claim | undefined {
  const metadata = projectMetadata(raw, "namespace");
  const spec = recordIn(raw, "spec");
  const status = recordIn(raw, "status") ?? {};
  return (
    metadata && {
      metadata,
      controllerUID: controllerOf(raw),
      volumeName: stringIn(spec, "volumeName") ?? "",
      storageClassName: stringIn(spec, "storageClassName") ?? "",
      phase: stringIn(status, "phase") ?? "",
      status,
    }
  );
}

/** PURE. A PersistentVolume from the API server's JSON; undefined if it has no metadata. */
export function projectPersistentVolume(raw: unknown): PersistentVolume | undefined {
  const metadata = projectMetadata(raw, "namespace");
  const spec = recordIn(raw, "spec");
  if (metadata === undefined) return undefined;
  const claim = recordIn(spec, "claimRef");
  const translated = translateInTree(raw);
  const dropped = translateDropped(raw);
  const own = typeof dropped === "object" ? dropped.csi : undefined;
  const csi = translated?.csi ?? own ?? csiIn(recordIn(spec, "csi"));
  return {
    metadata,
    csi,
    ...(csi === undefined && { unusable: typeof dropped === "string" ? dropped : withoutDriver(raw) }),
    ...(own !== undefined && { attachedInline: true }),
    accessModes: translated?.accessModes ?? (arrayIn(spec, "accessModes") as AccessMode[]),
    volumeMode: stringIn(spec, "volumeMode") ?? "Filesystem",
    mountOptions: arrayIn(spec, "mountOptions") as string[],
    claimRef: claim && {
      namespace: stringIn(claim, "namespace") ?? "",
      name: stringIn(claim, "name") ?? "",
      uid: stringIn(claim, "uid") ?? "",
    },
    capacity: stringIn(recordIn(spec, "capacity"), "storage") ?? "",
    nodeTerms: nodeTerms(raw, translated !== undefined),
  };
}

function csiIn(csi: JsonObject | undefined): PersistentVolumeCSI | undefined {
  if (csi === undefined) return undefined;
  return {
    driver: stringIn(csi, "driver") ?? "",
    volumeHandle: stringIn(csi, "volumeHandle") ?? "",
    readOnly: csi["readOnly"] === true,
    fsType: stringIn(csi, "fsType") ?? "",
    volumeAttributes: (recordIn(csi, "volumeAttributes") ?? {}) as { [key: string]: string },
    nodeStageSecretRef: secretIn(csi, "nodeStageSecretRef"),
    nodePublishSecretRef: secretIn(csi, "nodePublishSecretRef"),
    nodeExpandSecretRef: secretIn(csi, "nodeExpandSecretRef"),
  };
}

function secretIn(csi: JsonObject, key: string): SecretReference | undefined {
  const ref = recordIn(csi, key);
  return ref && { namespace: stringIn(ref, "namespace") ?? "", name: stringIn(ref, "name") ?? "" };
}

/** PURE. A VolumeAttachment from the API server's JSON; undefined if it has no metadata. */
export function projectAttachment(raw: unknown): Attachment | undefined {
  const metadata = projectMetadata(raw, "namespace");
  const spec = recordIn(raw, "spec");
  const status = recordIn(raw, "status");
  if (metadata === undefined) return undefined;
  const source = recordIn(spec, "source");
  const inline = recordIn(recordIn(source, "inlineVolumeSpec"), "csi");
  return {
    metadata,
    attacher: stringIn(spec, "attacher") ?? "",
    nodeName: stringIn(spec, "nodeName") ?? "",
    persistentVolumeName: stringIn(source, "persistentVolumeName") ?? "",
    inline: inline && {
      driver: stringIn(inline, "driver") ?? "",
      volumeHandle: stringIn(inline, "volumeHandle") ?? "",
    },
    attached: status?.["attached"] === true,
    metadataOfDriver: (recordIn(status, "attachmentMetadata") ?? {}) as { [key: string]: string },
    attachError: stringIn(recordIn(status, "attachError"), "message") ?? "",
    attachErrorCode: attachErrorCode(raw),
    detachError: stringIn(recordIn(status, "detachError"), "message") ?? "",
  };
}

/** PURE. A CSINode from the API server's JSON; undefined if it has no metadata. */
export function projectCSINode(raw: unknown): CSINode | undefined {
  const metadata = projectMetadata(raw, "namespace");
  const drivers = arrayIn(recordIn(raw, "spec"), "drivers").map((driver) => {
    const count = recordIn(driver, "allocatable")?.["count"];
    return {
      name: stringIn(driver, "name") ?? "",
      nodeID: stringIn(driver, "nodeID") ?? "",
      limit: typeof count === "number" ? count : undefined,
    };
  });
  return metadata && { metadata, drivers };
}

/** Where nothing is said, a driver's volumes are attached, and Persistent. */
export function projectCSIDriver(raw: unknown): CSIDriver | undefined {
  const metadata = projectMetadata(raw, "namespace");
  const spec = recordIn(raw, "spec");
  const modes = arrayIn(spec, "volumeLifecycleModes") as string[];
  const policy = stringIn(spec, "fsGroupPolicy");
  return (
    metadata && {
      metadata,
      attachRequired: spec?.["attachRequired"] !== false,
      tokenAudiences: arrayIn(spec, "tokenRequests").map((request) => stringIn(request, "audience") ?? ""),
      tokensInSecrets: spec?.["serviceAccountTokenInSecrets"] === true,
      lifecycleModes: modes.length === 0 ? ["Persistent"] : modes,
      requiresRepublish: spec?.["requiresRepublish"] === true,
      podInfoOnMount: spec?.["podInfoOnMount"] === true,
      fsGroupPolicy: policy === "None" || policy === "File" ? policy : "ReadWriteOnceWithFSType",
      seLinuxMount: spec?.["seLinuxMount"] === true,
    }
  );
}

/** PURE. A StorageClass from the API server's JSON; undefined if it has no metadata. */
export function projectStorageClass(raw: unknown): StorageClass | undefined {
  const metadata = projectMetadata(raw, "namespace");
  const waitForFirstConsumer = stringIn(raw, "volumeBindingMode") === "WaitForFirstConsumer";
  return metadata && { metadata, provisioner: stringIn(raw, "provisioner") ?? "", waitForFirstConsumer };
}

/** PURE. Key of a claim in indexes. */
export function claimKey(namespace: string, name: string): string {
  return `${namespace}/${name}`;
}

/** The objects that a claim is resolved by, by name, as they were last seen. */
export interface ClaimObjects {
  claim(namespace: string, name: string): Claim | undefined;
  persistentVolume(name: string): PersistentVolume | undefined;
  storageClass(name: string): StorageClass | undefined;
  csiDriver(name: string): CSIDriver | undefined;
}
