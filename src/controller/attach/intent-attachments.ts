import { annotation, resource } from "../../api/names.ts";
import type { Storage } from "../cache/storage.ts";
import type { ClaimReservation, VolumeObjects } from "../claims/claim-reservation.ts";
import type { Intent } from "../model/projections.ts";
import { type Attachment, projectAttachment } from "../model/storage-objects.ts";
import { volumeIDOf } from "../model/volume-key.ts";
import { attachmentName, isOwnAttachment } from "./attachment-name.ts";
import type { VolumeIndex } from "./volume-index.ts";
import { type AttachmentWriter, removeAttachment } from "./write-attachment.ts";

/** What outlives the agent's acknowledgement, and must be gone before the finalizer is. */
export interface IntentAttachments {
  /** The VolumeAttachment that the intent rests on, as the server has it now; undefined if there is none. */
  read(intent: Intent): Promise<Attachment | undefined>;
  /** Deletes this very version of it. */
  remove(attachment: Attachment): Promise<void>;
  /** Takes our marks off its claim, if nobody else of ours uses the volume. */
  release(intent: Intent): Promise<void>;
}

/** Dependencies of what the end of an intent does about VolumeAttachments and claims. */
export interface IntentAttachmentsDeps extends AttachmentWriter {
  readonly storage: Pick<Storage, "attachments" | "claims">;
  readonly index: VolumeIndex;
  readonly reservation: ClaimReservation;
  readonly intent: (name: string) => Intent | undefined;
}

/** What the end of an intent takes with it: its VolumeAttachment, and the marks on its claim. */
export function createIntentAttachments(deps: IntentAttachmentsDeps): IntentAttachments {
  const { client, index } = deps;
  /** UIDs by name of intents that have given all back and are about to go: the last of several finds nobody else. */
  const leaving = new Map<string, string>();

  /** Others who use the volume, or ask for it, by its key. */
  function others(intent: Intent, key = index.keyOf(intent)): Intent[] {
    const { name } = intent.metadata;
    const { persistentVolumeClaim } = intent.spec.source;
    const ofClaim =
      persistentVolumeClaim === undefined
        ? []
        : index.intentsOfClaim(persistentVolumeClaim.namespace, persistentVolumeClaim.claimName);
    const all = new Map([...index.intents(key), ...ofClaim].map((one) => [one.metadata.name, one]));
    all.delete(name);
    return [...all.values()].filter(
      ({ metadata, spec }) =>
        spec.mode === "Manage" &&
        leaving.get(metadata.name) !== metadata.uid &&
        (spec.grant !== undefined || metadata.deletionTimestamp === undefined),
    );
  }

  /**
   * Whether another intent has, or is getting, a grant for this volume on this node: the VolumeAttachment is then in
   * use. Checked after the VolumeAttachment was read: a later mark on it changes its resourceVersion.
   */
  function isAnothers({ spec }: Intent, found: Attachment, rivals: readonly Intent[]): boolean {
    return spec.grant === undefined && rivals.some((one) => one.spec.nodeName === found.nodeName);
  }

  return {
    async read(intent) {
      for (const name of namesFor(deps, intent)) {
        const raw = await client.get(resource.volumeAttachments, { name });
        const found = projectAttachment(raw);
        if (found !== undefined) deps.upsertAttachment(raw);
        if (found?.nodeName !== intent.spec.nodeName) continue;
        return isAnothers(intent, found, others(intent, index.keyOfAttachment(found))) ? undefined : found;
      }
      return undefined;
    },
    remove: (attachment: Attachment) => removeAttachment(deps, attachment),
    async release(intent) {
      for (const [name, uid] of leaving) if (deps.intent(name)?.metadata.uid !== uid) leaving.delete(name);
      leaving.set(intent.metadata.name, intent.metadata.uid ?? "");
      if (others(intent).length > 0) return;
      await deps.reservation.release(marked(deps, intent));
    },
  };
}

/** Names under which it may be: of the grant, of the volume, and of those that were made for the intent. */
function namesFor({ index, storage }: IntentAttachmentsDeps, intent: Intent): Set<string> {
  const { grant, nodeName } = intent.spec;
  const names = new Set<string>();
  if (grant?.volumeAttachment !== undefined) names.add(grant.volumeAttachment.name);
  const id = volumeIDOf(index.keyOf(intent));
  if (id !== undefined) names.add(attachmentName(id, nodeName));
  for (const { metadata } of storage.attachments.store.list()) {
    if (isOwnAttachment(metadata.name) && metadata.annotations?.[annotation.intent] === intent.metadata.name)
      names.add(metadata.name);
  }
  return names;
}

function marked({ index }: IntentAttachmentsDeps, intent: Intent): VolumeObjects {
  const key = index.keyOf(intent);
  const source = intent.spec.source.persistentVolumeClaim;
  const own = source && index.objects.claim(source.namespace, source.claimName);
  const granted = intent.spec.grant?.persistentVolume;
  const ownVolume = granted && index.objects.persistentVolume(granted.name);
  const claims = [...index.claims(key), ...(own ? [own] : [])];
  const volumes = [...index.persistentVolumes(key), ...(ownVolume ? [ownVolume] : [])];
  return {
    claims: [...new Map(claims.map((one) => [one.metadata.uid, one])).values()],
    persistentVolumes: [...new Map(volumes.map((one) => [one.metadata.uid, one])).values()],
  };
}
