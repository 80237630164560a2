import type { CSIVolumeSource, GrantedCSIVolume, NodeVolumeIntentSpec } from "../../api/types.gen.ts";
import { quantityBytes } from "../../api/values/quantity.ts";
import { resolveClaim, type UnresolvedVolume } from "../claims/resolve-claim.ts";
import { type AccessMode, accessModeOf } from "../model/access.ts";
import type { PersistentVolumeCSI } from "../model/csi-translation.ts";
import { diskOf, type NamedDisk } from "../model/disk-id.ts";
import type { Claim, ClaimObjects, CSIDriver, PersistentVolume } from "../model/storage-objects.ts";
import type { VolumeID } from "../model/volume-key.ts";
import { tooLarge } from "./size-limits.ts";

/** A volume that can be attached and granted, as far as its own objects go. */
export interface ResolvedVolume {
  readonly id: VolumeID;
  readonly accessMode: AccessMode;
  /** The volume as the grant describes it to the agent; undefined if the intent's source describes it completely. */
  readonly csi: GrantedCSIVolume | undefined;
  /** undefined: the source names the volume itself. */
  readonly persistentVolume: PersistentVolume | undefined;
  readonly claim: Claim | undefined;
  readonly capacityBytes: string | undefined;
  /** `spec.source` of its VolumeAttachment; undefined: it never has one. */
  readonly attachmentSource: object | undefined;
}

/** The CSI volume that an intent's source names, or why it cannot be used now. `isResolved` distinguishes them. */
export type VolumeResolution = ResolvedVolume | UnresolvedVolume;

/** PURE. Whether the source leads to a volume. */
export function isResolved(resolution: VolumeResolution): resolution is ResolvedVolume {
  return "id" in resolution;
}

/**
 * The volume that a source names. Pure.
 * ```
 *  iscsi, fc ─────────────────────────────────────► the disk (disk-id.ts)
 *  csi ───────────────────────────────────────────► driver, handle
 *  persistentVolumeClaim ─► claim ◄─ both ways ─► PersistentVolume ─► driver, handle
 * ```
 */
export function resolveVolume(
  spec: Pick<NodeVolumeIntentSpec, "source" | "volumeMode" | "mountOptions">,
  objects: ClaimObjects,
): VolumeResolution {
  const disk = diskOf(spec.source);
  if (disk !== undefined) return ofDisk(disk);
  const { csi, persistentVolumeClaim } = spec.source;
  const resolution =
    csi !== undefined
      ? named(csi, spec, objects)
      : persistentVolumeClaim !== undefined
        ? claimed(spec, persistentVolumeClaim, objects)
        : { waiting: { reason: "VolumeSourceUnsupported", message: "the source is not one of a CSI driver" } as const };
  const excess = isResolved(resolution) && resolution.csi ? tooLarge(resolution.csi) : undefined;
  return excess === undefined ? resolution : { waiting: { reason: "VolumeTooLarge", message: excess } };
}

/** The source names the volume itself. */
const noObjects = { persistentVolume: undefined, claim: undefined, capacityBytes: undefined };

/** Nothing attaches it but the node itself, and its source is what the agent goes by. */
function ofDisk({ id, readOnly }: NamedDisk): ResolvedVolume {
  return {
    id,
    accessMode: readOnly ? "ReadOnlyMany" : "ReadWriteOnce",
    csi: undefined,
    ...noObjects,
    attachmentSource: undefined,
  };
}

function named(
  source: CSIVolumeSource,
  { volumeMode, mountOptions = [] }: Pick<NodeVolumeIntentSpec, "volumeMode" | "mountOptions">,
  { csiDriver }: ClaimObjects,
): ResolvedVolume {
  const { controllerPublishSecretRef, accessMode = "ReadWriteOnce", ...told } = source;
  const { driver, volumeHandle } = source;
  const csi = { ...told, accessMode, ...ownershipOf(csiDriver(driver), { ...told, accessModes: [accessMode] }) };
  // Of an inline volume the external-attacher reads what it would read of a PersistentVolume.
  const { accessMode: _, ...ofDriver } = source;
  const inlineVolumeSpec = {
    accessModes: [accessMode],
    volumeMode,
    ...(mountOptions.length > 0 && { mountOptions }),
    csi: ofDriver,
  };
  return {
    id: { driver, volumeHandle },
    accessMode,
    csi,
    ...noObjects,
    attachmentSource: { inlineVolumeSpec },
  };
}

function claimed(
  { volumeMode }: Pick<NodeVolumeIntentSpec, "volumeMode">,
  source: NonNullable<NodeVolumeIntentSpec["source"]["persistentVolumeClaim"]>,
  objects: ClaimObjects,
): VolumeResolution {
  const found = resolveClaim(source, objects);
  if ("waiting" in found) return found;
  const { claim, persistentVolume, csi } = found;
  const { name } = persistentVolume.metadata;
  const on = { kind: "PersistentVolume", name };
  if (persistentVolume.volumeMode !== volumeMode) {
    const message = `PersistentVolume ${name} has volumeMode ${persistentVolume.volumeMode}, the set specifies ${volumeMode}`;
    return { waiting: { reason: "VolumeModeMismatch", message, on } };
  }
  const readOnly = source.readOnly === true || csi.readOnly;
  const { driver, volumeHandle, fsType, volumeAttributes } = csi;
  const { nodeStageSecretRef, nodePublishSecretRef, nodeExpandSecretRef } = csi;
  const { mountOptions, accessModes } = persistentVolume;
  const accessMode = accessModeOf(accessModes, readOnly);
  return {
    id: { driver, volumeHandle },
    accessMode,
    csi: {
      driver,
      volumeHandle,
      ...(readOnly && { readOnly }),
      ...(fsType !== "" && { fsType }),
      accessMode,
      ...(mountOptions.length > 0 && { mountOptions: [...mountOptions] }),
      ...(Object.keys(volumeAttributes).length > 0 && { volumeAttributes: { ...volumeAttributes } }),
      ...(nodeStageSecretRef && { nodeStageSecretRef }),
      ...(nodePublishSecretRef && { nodePublishSecretRef }),
      ...(nodeExpandSecretRef && { nodeExpandSecretRef }),
      ...ownershipOf(objects.csiDriver(driver), { accessModes, fsType, readOnly }),
    },
    persistentVolume,
    claim,
    capacityBytes: capacityOf(persistentVolume),
    attachmentSource: persistentVolume.attachedInline
      ? { inlineVolumeSpec: inlineOf(persistentVolume, csi) }
      : { persistentVolumeName: name },
  };
}

/** What the external-attacher would read of the PersistentVolume, if it were one of a driver. */
function inlineOf({ accessModes, volumeMode, mountOptions }: PersistentVolume, csi: PersistentVolumeCSI): object {
  const { driver, volumeHandle, readOnly, fsType } = csi;
  return {
    accessModes,
    volumeMode,
    ...(mountOptions.length > 0 && { mountOptions }),
    csi: { driver, volumeHandle, ...(readOnly && { readOnly }), ...(fsType !== "" && { fsType }) },
  };
}

function capacityOf({ capacity }: PersistentVolume): string | undefined {
  if (capacity === "") return undefined;
  const bytes = quantityBytes(capacity);
  return bytes > 0n ? String(bytes) : undefined;
}

/** The part of a volume that decides who its files belong to, and what label they have. */
export interface OwnedVolume {
  /** Those of the PersistentVolume, all of them. */
  readonly accessModes: readonly AccessMode[];
  readonly fsType?: string;
  readonly readOnly?: boolean;
}

/** PURE. What the grant tells the agent of it by the CSIDriver; without one the default of its fields holds. */
export function ownershipOf(
  driver: Pick<CSIDriver, "fsGroupPolicy" | "seLinuxMount"> | undefined,
  volume: OwnedVolume,
): Pick<GrantedCSIVolume, "supportsFSGroup" | "seLinuxMount"> {
  return {
    // False, too: a grant without it is of a controller that knew nothing of it.
    supportsFSGroup: supportsFSGroup(driver?.fsGroupPolicy ?? "ReadWriteOnceWithFSType", volume),
    ...(driver?.seLinuxMount === true && isForOnePod(volume) && { seLinuxMount: true }),
  };
}

/** Whether the files may be given to a group (behaviour 107, kubelet: csi_mounter.go, supportsFSGroup). */
function supportsFSGroup(policy: CSIDriver["fsGroupPolicy"], { accessModes, fsType, readOnly }: OwnedVolume): boolean {
  if (policy === "None" || readOnly === true) return false;
  if (policy === "File") return true;
  const writesOnOneNode = accessModes.includes("ReadWriteOnce") || accessModes.includes("ReadWriteOncePod");
  return fsType !== undefined && fsType !== "" && writesOnOneNode;
}

/** As long as the gate SELinuxMount is off (behaviour 77, kubelet: selinux.go, VolumeSupportsSELinuxMount). */
function isForOnePod({ accessModes }: OwnedVolume): boolean {
  return accessModes.length === 1 && accessModes[0] === "ReadWriteOncePod";
}
