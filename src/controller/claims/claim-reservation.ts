import type { KubeObject } from "../../api/meta.ts";
import { type Resource, resource } from "../../api/names.ts";
import type { KubeClient } from "../../kube/client/client.ts";
import type { Clock, Logger, Random } from "../../ports.ts";
import type { Claim, PersistentVolume } from "../model/storage-objects.ts";
import type { WaitReason } from "../model/wait-reason.ts";
import { usedByPods } from "./claim-users.ts";
import {
  beingReserved,
  leftMs,
  notRefused,
  type PendingReservation,
  podsAgainMs,
  settleMs,
  type Waiting,
} from "./decide-reservation.ts";
import { holdPatch, isHeld, protectPatch, releasePatch, reservePatch, unholdPatch } from "./marks.ts";
import { createOwnerReservations } from "./owner-reservations.ts";
import { probePolicy } from "./probe-policy.ts";

/** Dependencies of reserving claims. */
export interface ClaimReservationDeps {
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  /** Since when the owner of a claim keeps pods out of it, in monotonic milliseconds. */
  readonly reservedSince: (claim: Claim) => number | undefined;
  readonly upsertClaim: (raw: unknown) => void;
  readonly upsertPersistentVolume: (raw: unknown) => void;
}

/** The claims and PersistentVolumes of one volume, all that name it. */
export interface VolumeObjects {
  readonly claims: readonly Claim[];
  readonly persistentVolumes: readonly PersistentVolume[];
}

/** How far the volume is ours. */
interface VolumeUse {
  /** Somebody of ours uses it: each of its claims gets the label, whoever names it, and keeps it. */
  readonly held: boolean;
  /** Somebody is to have it anew: what was labelled in an earlier term is reserved once more, too. */
  readonly begins: boolean;
}

/**
 * Protection and reservation of the claims of a volume, against deletion and against pods that would use it directly.
 */
export interface ClaimReservation {
  /** Our finalizer on all of them: what is in use does not vanish. */
  protect(objects: VolumeObjects): Promise<void>;
  /**
   * Reserves the claims for us, so that no pod comes to use them directly.
   * @param attachedByOthers asks the server, after the time in which pods may still slip in
   * @returns undefined when they are ours, else what is waited for and when to go on
   */
  reserve(
    objects: VolumeObjects,
    use: VolumeUse,
    attachedByOthers: () => Promise<WaitReason | undefined>,
  ): Promise<Waiting | undefined>;
  /** All marks off: nobody of ours uses the volume any more. */
  release(objects: VolumeObjects): Promise<void>;
  /** Does ahead what the next one who wants a claim of its owner's would wait for. Nobody wants these now. */
  prepare(objects: VolumeObjects): Promise<void>;
  /** The claim is gone, and with it what is remembered of it. */
  gone(claim: Claim): void;
  /** Another has led meanwhile, and may have let pods have what was reserved here. */
  forget(): void;
}

/**
 * Reserves claims: label first, then proof that the admission policy refuses pods, then a check that no pod slipped in.
 */
export function createClaimReservation(deps: ClaimReservationDeps): ClaimReservation {
  const { client, clock, random, log } = deps;
  /**
   * By UID of the claim: those whose reservation has begun, and those that are ours. The label on the server says
   * neither since when it has kept pods out, nor that none had slipped in.
   */
  const pending = new Map<string, PendingReservation>();
  const reserved = new Set<string>();

  async function mark(of: Resource, object: KubeObject, patch: object | undefined): Promise<void> {
    if (patch === undefined) return;
    const { name, namespace, uid, resourceVersion } = object.metadata;
    const raw = await client.mergePatch(of, { name, namespace, uid, resourceVersion }, patch);
    if (of === resource.claims) deps.upsertClaim(raw);
    else deps.upsertPersistentVolume(raw);
    log.info("marks written", { kind: of.kind, name, ...(namespace !== undefined && { namespace }) });
  }

  async function markAll(objects: VolumeObjects, patchOf: (object: KubeObject) => object | undefined): Promise<void> {
    for (const claim of objects.claims) await mark(resource.claims, claim, patchOf(claim));
    for (const one of objects.persistentVolumes) await mark(resource.persistentVolumes, one, patchOf(one));
  }

  async function usedByAny(claims: readonly Claim[]): Promise<WaitReason | undefined> {
    for (const claim of claims) {
      const used = await usedByPods(client, claim);
      if (used !== undefined) return used;
    }
    return undefined;
  }

  function forgetOne({ metadata: { uid = "" } }: Claim): void {
    pending.delete(uid);
    reserved.delete(uid);
  }

  async function reserveOne(
    claim: Claim,
    held: boolean,
    attachedByOthers: () => Promise<WaitReason | undefined>,
  ): Promise<Waiting | undefined> {
    const { uid = "" } = claim.metadata;
    const progress = pending.get(uid) ?? { shutAt: clock.monotonic() };
    pending.set(uid, progress);
    let { refusedAt } = progress;
    if (refusedAt === undefined) {
      const { why } = await probePolicy(deps, claim, "held");
      const now = clock.monotonic();
      if (why !== undefined) return notRefused(claim, progress, why, now);
      refusedAt = now;
      pending.set(uid, { ...progress, refusedAt });
    }
    const left = leftMs(progress.shutAt, refusedAt, clock.monotonic());
    if (left > 0) return beingReserved(claim, left);
    const used = (await usedByPods(client, claim)) ?? (await attachedByOthers());
    if (used === undefined) {
      reserved.add(uid);
      pending.delete(uid);
      return undefined;
    }
    if (held) return { waitReason: used, againInMs: podsAgainMs };
    pending.delete(uid);
    await mark(resource.claims, claim, unholdPatch(claim));
    return { waitReason: used, againInMs: podsAgainMs };
  }

  const ownerReservations = createOwnerReservations({
    client,
    clock,
    random,
    mark: (claim) => mark(resource.claims, claim, reservePatch(claim)),
  });

  return {
    protect: (objects) => markAll(objects, protectPatch),
    async reserve({ claims }, { held, begins }, attachedByOthers) {
      const open = claims.filter((claim) => !isHeld(claim));
      for (const claim of open) forgetOne(claim);
      // Nobody is turned away from a claim for a volume that is not to be had by another one.
      const used = held || open.length < 2 ? undefined : await usedByAny(open);
      if (used !== undefined) return { waitReason: used, againInMs: podsAgainMs };
      for (const claim of open) {
        const { uid = "" } = claim.metadata;
        const reservedAt = deps.reservedSince(claim);
        if (!held && reservedAt !== undefined && clock.monotonic() - reservedAt >= settleMs) {
          const waiting = await ownerReservations.reserve(claim, reservedAt, attachedByOthers);
          if (waiting !== undefined) return waiting;
          reserved.add(uid);
          continue;
        }
        // Nor from one that pods use.
        const used = held ? undefined : await usedByPods(client, claim);
        if (used !== undefined) return { waitReason: used, againInMs: podsAgainMs };
        await mark(resource.claims, claim, holdPatch(claim));
        pending.set(uid, { shutAt: reservedAt ?? clock.monotonic() });
      }
      let waiting: Waiting | undefined;
      for (const claim of claims) {
        const { uid = "" } = claim.metadata;
        if (reserved.has(uid) || !(begins || pending.has(uid))) continue;
        waiting = (await reserveOne(claim, held, attachedByOthers)) ?? waiting;
      }
      return waiting;
    },
    async release(objects) {
      for (const claim of objects.claims) forgetOne(claim);
      await markAll(objects, releasePatch);
    },
    async prepare({ claims }) {
      const byOwner = claims.find((claim) => deps.reservedSince(claim) !== undefined);
      if (byOwner !== undefined) await ownerReservations.prepare(byOwner);
    },
    gone: forgetOne,
    forget() {
      pending.clear();
      reserved.clear();
      ownerReservations.forget();
    },
  };
}
