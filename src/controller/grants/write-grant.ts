import { annotation, resource } from "../../api/names.ts";
import { isCompared } from "../../api/source-traits.ts";
import type { Grant, GrantedCSIVolume } from "../../api/types.gen.ts";
import { messageOf } from "../../errors.ts";
import { ApiError, classifyWriteError } from "../../kube/client/api-error.ts";
import type { KubeClient } from "../../kube/client/client.ts";
import type { Logger, Random } from "../../ports.ts";
import type { Expectations } from "../attach/expectations.ts";
import type { GatherVolumeDeps } from "../attach/gather-volume.ts";
import { isResolved, type ResolvedVolume } from "../attach/resolve-volume.ts";
import { contextTooLarge } from "../attach/size-limits.ts";
import type { VolumeConsumer } from "../attach/volume-facts.ts";
import type { Intent } from "../model/projections.ts";
import { type Attachment, type CSIDriver, projectAttachment } from "../model/storage-objects.ts";
import type { WaitReason } from "../model/wait-reason.ts";
import { patchIntent } from "./patch-intent.ts";

/** Dependencies of writing `spec.grant` of an intent. */
export interface GrantWriter {
  readonly client: KubeClient;
  readonly log: Logger;
  readonly random: Random;
  readonly expectations: Expectations;
  readonly storage: GatherVolumeDeps["storage"];
  readonly upsertIntent: (raw: unknown) => void;
  readonly upsertAttachment: (raw: unknown) => void;
}

/**
 * Gives the leave to use a volume. First the VolumeAttachment gets the grant's id, which goes on only if nobody has
 * begun to delete it, and makes a deletion that is under way by an older version of it fail (safety rule 1); then the
 * intent, as the server has it now, gets the grant.
 * @returns what the server has against it, if it refuses
 */
export async function writeGrant(
  deps: GrantWriter,
  consumer: VolumeConsumer,
  attachment: Attachment | undefined,
): Promise<WaitReason | undefined> {
  const { intent, resolution } = consumer;
  if (!isResolved(resolution)) return undefined;
  const id = deps.random.uuid();
  deps.expectations.beginGrant(intent);
  try {
    const found = attachment && (await annotate(deps, attachment, id));
    if (attachment !== undefined && found === undefined) {
      deps.expectations.endGrant(intent);
      return undefined;
    }
    const driver = deps.storage.csiDrivers.store.get(resolution.id.driver);
    const csi = resolution.csi && { ...resolution.csi, ...grantedOfDriver(driver) };
    const granted = grantOf(id, { ...resolution, csi }, found);
    await grantIntent(deps, intent, resolution, isCompared(intent.spec.source) ? { ...granted, disk: "" } : granted);
    return undefined;
  } catch (error) {
    if (!(error instanceof ApiError) || classifyWriteError(error) === "uncertain") throw error;
    // Refused: nothing was written.
    deps.expectations.endGrant(intent);
    if (classifyWriteError(error) !== "final") throw error;
    return { reason: "Invalid", message: messageOf(error) };
  }
}

/** The attachment as it is with the grant's id on it; undefined if it cannot be granted any more. */
async function annotate(deps: GrantWriter, { metadata }: Attachment, id: string): Promise<Attachment | undefined> {
  const { name, uid, resourceVersion } = metadata;
  const patch = { metadata: { annotations: { [annotation.grant]: id } } };
  // As it was seen: a leader that stood still, and does not know that another leads, must not put its mark over that
  // one's.
  const raw = await deps.client.mergePatch(resource.volumeAttachments, { name, uid, resourceVersion }, patch);
  deps.upsertAttachment(raw);
  const found = projectAttachment(raw);
  if (found === undefined || found.metadata.deletionTimestamp !== undefined || !found.attached) return undefined;
  return contextTooLarge(found.metadataOfDriver) === undefined ? found : undefined;
}

async function grantIntent(
  deps: GrantWriter,
  seen: Intent,
  { capacityBytes }: ResolvedVolume,
  grant: Grant,
): Promise<void> {
  const spec = { grant, ...(capacityBytes !== undefined && { capacityBytes }) };
  const { written, intent } = await patchIntent(deps, seen, mayBeGranted, spec);
  if (written) deps.log.info("intent granted", { intent: seen.metadata.name, grant: grant.id });
  // An earlier attempt without an answer may have been applied. patchIntent has shown the store what the server has, so
  // the volume is due again; it is reconciled after this run, and then the expectation has ended.
  else if (intent?.spec.grant === undefined) deps.expectations.endGrant(seen);
}

function mayBeGranted({ metadata, spec }: Intent): boolean {
  return metadata.deletionTimestamp === undefined && spec.grant === undefined && spec.mode === "Manage";
}

function grantOf(id: string, { csi, persistentVolume }: ResolvedVolume, attachment: Attachment | undefined): Grant {
  const context = attachment?.metadataOfDriver ?? {};
  return {
    id,
    ...(attachment && { volumeAttachment: objectOf(attachment) }),
    ...(persistentVolume && { persistentVolume: objectOf(persistentVolume) }),
    ...(csi && { csi }),
    ...(Object.keys(context).length > 0 && { publishContext: { ...context } }),
  };
}

function objectOf({ metadata: { name, uid = "" } }: Pick<Attachment, "metadata">): { name: string; uid: string } {
  return { name, uid };
}

/**
 * PURE. The fields of a grant that come from the driver's CSIDriver object, which agents do not read. A grant never
 * changes, so that later changes of the CSIDriver apply to the next grant (decision 0027). Without the object the
 * fields are left out.
 */
export function grantedOfDriver(
  driver: CSIDriver | undefined,
): Pick<GrantedCSIVolume, "requiresRepublish" | "podInfoOnMount" | "tokenAudiences" | "serviceAccountTokenInSecrets"> {
  const tokenAudiences = driver?.tokenAudiences ?? [];
  return {
    ...(driver?.requiresRepublish && { requiresRepublish: true }),
    ...(driver?.podInfoOnMount && { podInfoOnMount: true }),
    ...(tokenAudiences.length > 0 && { tokenAudiences: [...tokenAudiences] }),
    ...(driver?.tokensInSecrets && { serviceAccountTokenInSecrets: true }),
  };
}
