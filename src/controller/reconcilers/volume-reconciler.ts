import { apiVersion, resource } from "../../api/names.ts";
import type { Reason } from "../../api/reasons.ts";
import { messageOf } from "../../errors.ts";
import { ApiError, classifyWriteError } from "../../kube/client/api-error.ts";
import type { KubeClient } from "../../kube/client/client.ts";
import type { EventRecorder } from "../../kube/events/event-recorder.ts";
import type { RequeueAfter } from "../../kube/keyed-queue.ts";
import type { Clock, Logger } from "../../ports.ts";
import type { AttachStatusWriter } from "../attach/attach-status-writer.ts";
import { attachmentName, isOwnAttachment } from "../attach/attachment-name.ts";
import { limitReached } from "../attach/decide-attachment.ts";
import { decideVolume } from "../attach/decide-volume.ts";
import { type GatherVolumeDeps, gatherVolume, placeOf } from "../attach/gather-volume.ts";
import { grow } from "../attach/grow.ts";
import { attachedByOther, consentObstacle, isDenied, usedBefore } from "../attach/obstacles.ts";
import type { Retries } from "../attach/retries.ts";
import type { AttachPlan, Decision } from "../attach/volume-decision.ts";
import type { VolumeEventRecorder } from "../attach/volume-event-recorder.ts";
import { holds, nodeNameOf, type VolumeConsumer, type VolumeFacts } from "../attach/volume-facts.ts";
import { type AttachmentWriter, attach, detachDangling } from "../attach/write-attachment.ts";
import type { ClaimReservation, VolumeObjects } from "../claims/claim-reservation.ts";
import { sharedWithKubelet } from "../claims/decide-reservation.ts";
import { type GrantWriter, writeGrant } from "../grants/write-grant.ts";
import type { Intent } from "../model/projections.ts";
import { projectAttachment } from "../model/storage-objects.ts";
import { type VolumeID, volumeKey } from "../model/volume-key.ts";
import type { WaitReason } from "../model/wait-reason.ts";
import { runWithConcurrency } from "../util/run-with-concurrency.ts";

/** Dependencies of reconciling one CSI volume. */
export interface ReconcileVolumeDeps extends GatherVolumeDeps, AttachmentWriter, GrantWriter {
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly log: Logger;
  readonly reservation: ClaimReservation;
  readonly retries: Retries;
  readonly attachStatus: AttachStatusWriter;
  readonly volumeEvents: VolumeEventRecorder;
  readonly recorder: EventRecorder;
  readonly upsertClaim: (raw: unknown) => void;
  /** What keeps an intent from the disk that it has found. */
  readonly diskHeldElsewhere: (intent: Intent) => WaitReason | undefined;
  /** Milliseconds after which to look again, if others may have written what the agent of a node says. */
  readonly doubtForMs: (node: string) => number | undefined;
  /** Tries to let an intent go that is being deleted. @returns milliseconds after which to look again, if any */
  readonly release: (intent: Intent) => Promise<RequeueAfter | undefined>;
}

/** Each step is of one node: a volume that many may have need not come to one after the other. */
const nodesAtOnce = 8;

/** Sooner of two delays. */
const sooner = (a: number | undefined, b: number | undefined) => Math.min(a ?? Infinity, b ?? Infinity);

/**
 * Brings one volume a step on, over all nodes: one call at a time for one volume. What it writes comes back by the
 * watches, and it is called again.
 * @returns milliseconds after which to look again, if time alone may change something
 */
export async function reconcileVolume(deps: ReconcileVolumeDeps, id: VolumeID): Promise<RequeueAfter | undefined> {
  const key = volumeKey(id);
  const facts = gatherVolume(deps, id);
  const objects = objectsOf(deps, facts);
  // A mark that is left over. Not where an attachment says that the volume may be in use, though its intent has gone.
  const mayBeUsed = facts.attachments.some(
    ({ metadata }) => isOwnAttachment(metadata.name) && usedBefore(metadata.annotations),
  );
  const errors: unknown[] = [];
  // What cannot be done in one respect, or for one node, holds up no other: least of all a release.
  const attempt = async (act: () => Promise<void>): Promise<void> => {
    try {
      await act();
    } catch (error) {
      errors.push(error);
    }
  };
  if (facts.consumers.every((consumer) => isDenied(facts, consumer)) && !mayBeUsed) {
    await attempt(() => deps.reservation.release(withoutThoseOfOthers(deps, objects)));
    await deps.reservation.prepare(objects).catch((error: unknown) => {
      // A member that still requests the volume gets its status at the next reconcile.
      deps.log.debug("no pod was tried at a reserved claim", { volume: key, error: messageOf(error) });
    });
  }
  let unprotected: WaitReason | undefined;
  if (facts.consumers.some(uses)) {
    await attempt(() =>
      deps.reservation.protect(objects).catch((error: unknown) => {
        unprotected = notProtected(error);
        throw error;
      }),
    );
  }
  const plan = decideVolume(facts);
  for (const attachment of plan.kept) deps.volumeEvents.kept(objects.claims, attachment);
  for (const attachment of plan.detach) await attempt(() => detachDangling(deps, id, attachment));
  // Whoever would begin does not, unless it is certain that it may.
  const reserved = reserve(deps, facts, plan, objects);
  const waiting: Outcome | undefined = await reserved.catch((error: unknown) => {
    errors.push(error);
    return notReserved(error);
  });
  let againInMs = waiting?.againInMs;
  const carryOutOne = (decision: Decision) =>
    attempt(async () => {
      const begins = decision.step !== undefined && decision.step.do !== "release" && !holds(decision.consumer);
      const outcome =
        (begins || standsBehind(decision, waiting) ? waiting : undefined) ?? (await carryOut(deps, id, decision));
      againInMs = sooner(againInMs, outcome.againInMs);
      if (outcome.changed) return;
      const beside = uses(decision.consumer)
        ? (sharedWithKubelet(waiting?.waitReason) ?? unprotected ?? consentObstacle(facts, decision.consumer))
        : undefined;
      const writeInMs = await deps.attachStatus.write(
        decision.consumer.intent,
        outcome.waitReason ?? beside ?? deps.diskHeldElsewhere(decision.consumer.intent),
      );
      againInMs = sooner(againInMs, writeInMs);
    });
  // A wait reason may have to be written to thousands of intents. The member whose turn it is does not wait for these
  // writes.
  const [steps, waits] = [plan.decisions.filter(({ step }) => step), plan.decisions.filter(({ step }) => !step)];
  await runWithConcurrency(nodesAtOnce, [...steps, ...waits], carryOutOne, ([error]) => error);
  againInMs = sooner(againInMs, await grow(deps, facts, attempt));
  const [first, ...others] = errors;
  for (const error of others) deps.log.warn("failed to advance volume", { volume: key, error: messageOf(error) });
  if (errors.length > 0) throw first;
  return Number.isFinite(againInMs) ? againInMs : undefined;
}

/** That a claim is being reserved is over in a moment; who or what keeps it from everybody is told to everybody. */
function standsBehind({ behind }: Decision, waiting: Outcome | undefined): boolean {
  return behind === true && waiting?.waitReason !== undefined && waiting.waitReason.reason !== "WaitingForAttach";
}

/** Every claim and PersistentVolume of the volume, and the claims that its intents name. */
function objectsOf({ index }: ReconcileVolumeDeps, { id, consumers }: VolumeFacts): VolumeObjects {
  const key = volumeKey(id);
  const named = consumers.flatMap(({ intent }) => {
    const source = intent.spec.source.persistentVolumeClaim;
    const claim = source && index.objects.claim(source.namespace, source.claimName);
    return claim === undefined ? [] : [claim];
  });
  const claims = new Map([...index.claims(key), ...named].map((claim) => [claim.metadata.uid, claim]));
  return { claims: [...claims.values()], persistentVolumes: index.persistentVolumes(key) };
}

/**
 * A claim whose PersistentVolume names another volume by now is that of whoever was granted it before: one only may
 * mark it.
 */
function withoutThoseOfOthers({ index }: ReconcileVolumeDeps, { claims, persistentVolumes }: VolumeObjects) {
  const isOthers = ({ metadata: { namespace = "", name } }: VolumeObjects["claims"][number]) =>
    index.intentsOfClaim(namespace, name).some(({ spec }) => spec.grant?.csi !== undefined);
  return { claims: claims.filter((claim) => !isOthers(claim)), persistentVolumes };
}

/** Before anything is attached or granted anew, and as long as somebody has it, all that names the volume is ours. */
async function reserve(deps: ReconcileVolumeDeps, facts: VolumeFacts, plan: AttachPlan, objects: VolumeObjects) {
  const begins = plan.decisions.some(
    ({ step, consumer }) => (step?.do === "attach" || step?.do === "grant") && !holds(consumer),
  );
  if (!begins && !facts.consumers.some(uses)) return undefined;
  const use = { held: facts.consumers.some(holds), begins };
  const waiting = await deps.reservation.reserve(objects, use, () => attachedByOthers(deps, facts));
  // As they are now: the label has made other versions of them.
  if (begins && waiting === undefined) await deps.reservation.protect(objectsOf(deps, facts));
  return waiting;
}

/** Not one that is being released: what its release has just taken off would be put on again. */
function uses(consumer: VolumeConsumer): boolean {
  return holds(consumer) && consumer.intent.metadata.deletionTimestamp === undefined;
}

/** A VolumeAttachment of the volume that is not ours, as the server has them now. */
async function attachedByOthers(
  { client, index }: ReconcileVolumeDeps,
  { id }: VolumeFacts,
): Promise<WaitReason | undefined> {
  const { items } = await client.list(resource.volumeAttachments);
  for (const raw of items) {
    const one = projectAttachment(raw);
    if (one === undefined || isOwnAttachment(one.metadata.name)) continue;
    const csi = one.inline ?? index.objects.persistentVolume(one.persistentVolumeName)?.csi;
    if (csi === undefined || volumeKey(csi) !== volumeKey(id)) continue;
    return attachedByOther(one);
  }
  return undefined;
}

interface Outcome {
  readonly waitReason?: WaitReason | undefined;
  readonly againInMs?: number | undefined;
  /** The intent was written just now: its status is written at the next reconcile. */
  readonly changed?: boolean;
}

/** A refusal that stays until somebody changes something; what passes is tried again. */
function notProtected(error: unknown): WaitReason | undefined {
  if (!(error instanceof ApiError) || classifyWriteError(error) !== "final") return undefined;
  const message = `the finalizer nodevolume.dev/in-use, which keeps claim and PersistentVolume while they are used, cannot be set: ${messageOf(error)}`;
  return { reason: "NotProtected", message };
}

/** No member starts if a read or write failed. A refusal that needs someone's action is reported. */
function notReserved(error: unknown): Outcome {
  if (!(error instanceof ApiError) || classifyWriteError(error) !== "final") return { changed: true };
  return { waitReason: { reason: "PolicyMissing", message: `the PVC cannot be reserved: ${messageOf(error)}` } };
}

async function carryOut(
  deps: ReconcileVolumeDeps,
  id: VolumeID,
  { consumer, step, waitReason }: Decision,
): Promise<Outcome> {
  switch (step?.do) {
    case "attach":
      if (step.again) recordDrift(deps, consumer);
      return await attachOne(deps, id, consumer, waitReason);
    case "grant": {
      const tried = await deps.retries.run(consumer.intent, () => writeGrant(deps, consumer, step.attachment));
      return { ...tried, changed: tried.waitReason === undefined };
    }
    case "release":
      return { changed: true, againInMs: await deps.release(consumer.intent) };
    case undefined:
      return { waitReason };
  }
}

async function attachOne(
  deps: ReconcileVolumeDeps,
  id: VolumeID,
  consumer: VolumeConsumer,
  waitReason: WaitReason | undefined,
): Promise<Outcome> {
  const full = noRoom(deps, id, consumer);
  if (full !== undefined) return { waitReason: full };
  const tried = await deps.retries.run(consumer.intent, () => attach(deps, id, consumer));
  return { waitReason: tried.waitReason ?? waitReason, againInMs: tried.againInMs };
}

/**
 * Another volume may have taken the node's last attachment slot since the facts were gathered. An attachment under way
 * has its slot.
 */
function noRoom(deps: ReconcileVolumeDeps, id: VolumeID, consumer: VolumeConsumer): WaitReason | undefined {
  const node = nodeNameOf(consumer);
  const name = attachmentName(id, node);
  if (holds(consumer) || deps.expectations.attachingOn(id, node).has(name)) return undefined;
  return limitReached(id, node, placeOf(deps, id, node));
}

/** It is over in a moment, so that no status would show it. */
function recordDrift({ log, recorder }: ReconcileVolumeDeps, { intent }: VolumeConsumer): void {
  const { name, uid } = intent.metadata;
  const attachment = intent.spec.grant?.volumeAttachment?.name;
  if (attachment === undefined) return;
  const message = `somebody else has deleted VolumeAttachment ${attachment} of a volume that is in use on node ${intent.spec.nodeName}: it is made again`;
  log.warn("attachment drifted", { intent: name, node: intent.spec.nodeName, attachment });
  const reason: Reason = "Drifted";
  recorder.event({ object: { apiVersion, kind: resource.intents.kind, name, uid }, type: "Warning", reason, message });
}
