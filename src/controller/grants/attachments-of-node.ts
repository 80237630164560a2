import { resource } from "../../api/names.ts";
import type { AttachedVolume } from "../../api/types.gen.ts";
import type { KubeClient } from "../../kube/client/client.ts";
import {
  type Attachment,
  type PersistentVolume,
  projectAttachment,
  projectPersistentVolume,
} from "../model/storage-objects.ts";
import { compareText } from "../util/canonical-json.ts";
import { runWithConcurrency } from "../util/run-with-concurrency.ts";

/** Reads of PersistentVolumes at the same time. */
const readsAtOnce = 8;

/** What CRDs allow of each. */
const longest = { handle: 512, name: 253 } as const;
const mostNames = 8;

/**
 * Fields of attachmentMetadata that say what the device is called on the node, as `plainKey` has them. Whatever else a
 * driver says there is shown to no node.
 */
const naming = new Set([
  ...["device", "devicename", "devicepath", "deviceserial", "deviceuuid", "devicewwn"],
  ...["diskid", "diskname", "diskpath", "diskserial", "diskuuid"],
  ...["lun", "lunserial", "lunuuid", "lunwwn", "iscsilunserial"],
  ...["eui", "naa", "nguid", "serial", "serialnumber", "uuid", "wwid", "wwn"],
  ...["mountvolname", "namespaceuuid", "nvmenamespaceuuid"],
  ...["volumeid", "volumename", "volumeuuid", "volumewwn"],
]);

/** PURE. `disk.example/Volume-Name` is `volumename`. */
function plainKey(key: string): string {
  return key
    .replace(/^.*\//, "")
    .toLowerCase()
    .replace(/[^a-z0-9]/g, "");
}

/**
 * All VolumeAttachments by node, as the server has them now: of every driver, attached already or not, and those that
 * are being deleted, whose device may still be there.
 */
export async function attachmentsByNode(client: KubeClient): Promise<ReadonlyMap<string, readonly Attachment[]>> {
  const { items } = await client.list(resource.volumeAttachments);
  return Map.groupBy(
    items.flatMap((raw) => projectAttachment(raw) ?? []),
    ({ nodeName }) => nodeName,
  );
}

/** PersistentVolumes that were read, by the UID of the VolumeAttachment that names each. */
export type ReadVolumes = ReadonlyMap<string, PersistentVolume>;

/**
 * What VolumeAttachments name: one read of a PersistentVolume for each that is not known.
 * @param known may be old: neither the PersistentVolume of a VolumeAttachment nor the handle of that ever changes. Its
 *   claim may, which is only named in messages
 */
export async function attachedVolumesOf(
  client: KubeClient,
  attachments: readonly Attachment[],
  known: ReadVolumes,
): Promise<{ readonly volumes: readonly AttachedVolume[]; readonly read: ReadVolumes }> {
  const volumes: AttachedVolume[] = [];
  const read = new Map<string, PersistentVolume>();
  await runWithConcurrency(
    readsAtOnce,
    attachments,
    async (attachment) => {
      const { uid = "" } = attachment.metadata;
      const volume = known.get(uid) ?? (await volumeOf(client, attachment));
      if (volume !== undefined && uid !== "") read.set(uid, volume);
      volumes.push(attachedVolume(attachment, volume));
    },
    ([error]) => error,
  );
  return { volumes: volumes.sort((a, b) => compareText(a.volumeAttachment, b.volumeAttachment)), read };
}

/** The PersistentVolume that a VolumeAttachment names, read live; undefined if it names none, or that is gone. */
async function volumeOf(
  client: KubeClient,
  { persistentVolumeName: name }: Attachment,
): Promise<PersistentVolume | undefined> {
  if (name === "") return undefined;
  // The role has no get of PersistentVolumes: a list of one.
  const { items } = await client.list(resource.persistentVolumes, { fieldSelector: `metadata.name=${name}` });
  return projectPersistentVolume(items.find(({ metadata }) => metadata.name === name));
}

/** PURE. What a node is told of a VolumeAttachment: by what its device is known there, and whom to name. */
function attachedVolume(attachment: Attachment, volume: PersistentVolume | undefined): AttachedVolume {
  const { metadata, attacher, inline, persistentVolumeName, metadataOfDriver } = attachment;
  const handle = inline?.volumeHandle ?? volume?.csi?.volumeHandle;
  const claim = volume?.claimRef;
  const names = Object.entries(metadataOfDriver)
    .filter(([key, value]) => naming.has(plainKey(key)) && value !== "" && value.length <= longest.name)
    .map(([, value]) => value)
    .sort(compareText)
    .slice(0, mostNames);
  return {
    volumeAttachment: metadata.name,
    driver: attacher,
    ...(handle !== undefined && handle.length <= longest.handle && { volumeHandle: handle }),
    ...(persistentVolumeName !== "" && { persistentVolume: persistentVolumeName }),
    ...(claim && { claim: `${claim.namespace}/${claim.name}` }),
    ...(names.length > 0 && { names }),
  };
}
