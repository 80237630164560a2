import { annotation, resource } from "../../api/names.ts";
import { messageOf } from "../../errors.ts";
import { ApiError, classifyWriteError, isConflict } from "../../kube/client/api-error.ts";
import type { KubeClient } from "../../kube/client/client.ts";
import type { Logger } from "../../ports.ts";
import type { Intent } from "../model/projections.ts";
import { type Attachment, projectAttachment } from "../model/storage-objects.ts";
import { type VolumeID, volumeKey } from "../model/volume-key.ts";
import type { WaitReason } from "../model/wait-reason.ts";
import { attachmentName } from "./attachment-name.ts";
import type { Expectations } from "./expectations.ts";
import { isResolved } from "./resolve-volume.ts";
import { nodeNameOf, type VolumeConsumer } from "./volume-facts.ts";

/** Dependencies of creating and deleting VolumeAttachments. */
export interface AttachmentWriter {
  readonly client: KubeClient;
  readonly log: Logger;
  readonly expectations: Expectations;
  /** Takes the server's answer into the store. */
  readonly upsertAttachment: (raw: unknown) => void;
}

/**
 * Writes the VolumeAttachment of a consumer: the external-attacher does the rest. It may be there already, from an
 * attempt that had no answer.
 * @returns what the server has against it, if it refuses
 */
export async function attach(
  deps: AttachmentWriter,
  id: VolumeID,
  consumer: VolumeConsumer,
): Promise<WaitReason | undefined> {
  const { client, expectations } = deps;
  const nodeName = nodeNameOf(consumer);
  const name = attachmentName(id, nodeName);
  const source = sourceOf(id, consumer);
  if (source === undefined) return undefined;
  const { grant } = consumer.intent.spec;
  const annotations = {
    [annotation.intent]: consumer.intent.metadata.name,
    [annotation.volumeHandle]: id.volumeHandle,
    // Made again under a grant that goes on: in use from its first moment.
    ...(grant !== undefined && { [annotation.grant]: grant.id }),
  };
  const body = { metadata: { name, annotations }, spec: { attacher: id.driver, nodeName, source } };
  expectations.beginAttach(id, nodeName);
  try {
    deps.upsertAttachment(await client.create(resource.volumeAttachments, body));
    deps.log.info("attachment written", { volume: volumeKey(id), node: nodeName, attachment: name });
  } catch (error) {
    if (isConflict(error)) deps.upsertAttachment(await client.get(resource.volumeAttachments, { name }));
    else if (!(error instanceof ApiError) || classifyWriteError(error) !== "final") throw error;
    else {
      expectations.endAttach(id, nodeName);
      return { reason: "AttachFailed", message: messageOf(error) };
    }
  }
  return undefined;
}

/** The PersistentVolume that a grant was written for, whatever the PVC or an annotation names by now. */
function sourceOf(id: VolumeID, { intent, resolution }: VolumeConsumer): object | undefined {
  const granted = intent.spec.grant?.persistentVolume;
  const resolved = isResolved(resolution) ? resolution : undefined;
  if (granted === undefined) return resolved?.attachmentSource;
  const isThat = resolved !== undefined && volumeKey(resolved.id) === volumeKey(id);
  const isSame = isThat && resolved.persistentVolume?.metadata.uid === granted.uid;
  return isSame ? resolved.attachmentSource : { persistentVolumeName: granted.name };
}

/**
 * Takes away a VolumeAttachment that nobody uses or asks for. Read live in this order: first the VolumeAttachment, then
 * the intents of its node; a grant that comes in between changes the VolumeAttachment, and the deletion is refused.
 */
export async function detachDangling(deps: AttachmentWriter, id: VolumeID, seen: Attachment): Promise<void> {
  const { client } = deps;
  const { name, uid } = seen.metadata;
  const raw = await client.get(resource.volumeAttachments, { name });
  const attachment = projectAttachment(raw);
  if (attachment === undefined || attachment.metadata.uid !== uid) return;
  if (attachment.metadata.deletionTimestamp !== undefined) return deps.upsertAttachment(raw);
  const fieldSelector = `spec.nodeName=${attachment.nodeName}`;
  const { items } = await client.list<Intent>(resource.intents, { fieldSelector });
  const uses = ({ spec: { nodeName, grant } }: Intent) =>
    nodeName === attachment.nodeName && grant?.csi !== undefined && volumeKey(grant.csi) === volumeKey(id);
  if (items.some(uses)) return;
  await removeAttachment(deps, attachment);
}

/** Deletes this very version of it. It is gone when the driver has detached the volume. */
export async function removeAttachment(deps: AttachmentWriter, { metadata, nodeName }: Attachment): Promise<void> {
  const { name, uid, resourceVersion } = metadata;
  const rest = await deps.client.delete(resource.volumeAttachments, { name, uid, resourceVersion });
  if (rest !== undefined) deps.upsertAttachment(rest);
  deps.log.info("attachment deleted", { attachment: name, node: nodeName });
}
