import { annotation } from "../../api/names.ts";
import type { SecretReference } from "../../api/types.gen.ts";
import { type JsonObject, recordIn, stringIn } from "../../kube/json.ts";
import { csiDefaults, type PersistentVolumeCSI } from "./csi-translation.ts";

/**
 * PersistentVolumes of plugins that Kubernetes dropped without a translation, as their vendors' drivers know them, by
 * how the driver takes its handle apart (decision 0065). What the fields do not say, annotations of the
 * PersistentVolume do, as for Portworx. Pure.
 * @returns what is missing, as the end of a sentence about the PersistentVolume; undefined: it is of none of these
 * plugins
 */
export function translateDropped(raw: unknown): { readonly csi: PersistentVolumeCSI } | string | undefined {
  const spec = recordIn(raw, "spec");
  const annotations = recordIn(recordIn(raw, "metadata"), "annotations");
  const [quobyte, scaleIO] = [recordIn(spec, "quobyte"), recordIn(spec, "scaleIO")];
  const handle = stringIn(annotations, annotation.volumeHandle);
  if (quobyte !== undefined) return ofQuobyte(quobyte, handle, annotations);
  return scaleIO && ofPowerFlex(scaleIO, handle);
}

/** TENANT|VOLUME, or TENANT|VOLUME|DIRECTORY, by names or UUIDs: quobyte/quobyte-csi-driver, src/driver/node.go. */
const quobyteHandle = /^[^|/]*\|(?!\.{1,2}(\||$))[^|/]+(\|[^|]+)?$/;

/**
 * Whom kubelet had Quobyte's client act as for everybody, if nothing is said. The driver has no such thing: each
 * process acts as itself.
 */
const actsAs = { user: "root", group: "nfsnobody" } as const;

function ofQuobyte(source: JsonObject, named: string | undefined, annotations: JsonObject | undefined) {
  const remedy = `annotate it with ${annotation.volumeHandle}: TENANT|VOLUME`;
  const other = (["user", "group"] as const).find((key) => (stringIn(source, key) || actsAs[key]) !== actsAs[key]);
  if (other !== undefined && named === undefined) {
    return `is of quobyte with spec.quobyte.${other}, which the driver csi.quobyte.com does not have: where each process may act as itself, ${remedy}`;
  }
  const [tenant = "", volume = ""] = [stringIn(source, "tenant"), stringIn(source, "volume")];
  const volumeHandle = named ?? `${tenant}|${volume}`;
  if (!quobyteHandle.test(volumeHandle) || (named === undefined && `${tenant}${volume}`.includes("|"))) {
    const what = named === undefined ? "spec.quobyte.volume" : "the annotation";
    return `is of quobyte, whose driver csi.quobyte.com has no volume ${JSON.stringify(volumeHandle)} as ${what} has it: ${remedy}`;
  }
  const secret = secretNamed(stringIn(annotations, annotation.publishSecret));
  if (secret === "malformed") return `has an annotation ${annotation.publishSecret} that is not NAMESPACE/NAME`;
  return { csi: { ...csiDefaults(source), driver: "csi.quobyte.com", volumeHandle, nodePublishSecretRef: secret } };
}

/**
 * SYSTEM-VOLUME, the second one an id; of a system whose name has a hyphen in it the driver takes the default one
 * (dell/csi-powerflex, getSystemIDFromCsiVolumeID in service/service.go).
 */
const powerFlexHandle = /^[^-/\s]+-[0-9a-f]{16}$/;

function ofPowerFlex(source: JsonObject, volumeHandle: string | undefined) {
  if (volumeHandle === undefined || !powerFlexHandle.test(volumeHandle)) {
    const what = volumeHandle === undefined ? "spec.scaleIO.volumeName is a name" : `${volumeHandle} is none`;
    return `is of scaleIO, whose driver csi-vxflexos.dellemc.com knows volumes by ids, and ${what}: annotate it with ${annotation.volumeHandle}: SYSTEMID-VOLUMEID, as in /dev/disk/by-id/emc-vol-SYSTEMID-VOLUMEID of a node that has it`;
  }
  return { csi: { ...csiDefaults(source), driver: "csi-vxflexos.dellemc.com", volumeHandle } };
}

function secretNamed(text: string | undefined): SecretReference | "malformed" | undefined {
  if (text === undefined) return undefined;
  const [, namespace, name] = /^([^/]+)\/([^/]+)$/.exec(text) ?? [];
  return namespace === undefined || name === undefined ? "malformed" : { namespace, name };
}
