import { timestamp } from "../../api/conditions.ts";
import { resource } from "../../api/names.ts";
import type { KubeClient } from "../../kube/client/client.ts";
import type { RequeueAfter } from "../../kube/keyed-queue.ts";
import type { Clock } from "../../ports.ts";
import { canGrow, capacityPatch, claimGrowthPatch } from "../claims/expansion.ts";
import { refOf } from "../model/projections.ts";
import { runWithConcurrency } from "../util/run-with-concurrency.ts";
import { isResolved } from "./resolve-volume.ts";
import type { VolumeEventRecorder } from "./volume-event-recorder.ts";
import type { VolumeFacts } from "./volume-facts.ts";

/**
 * Dependencies of volume expansion: the size at the backend goes to the nodes, and what the nodes have reached goes to
 * the claims.
 */
export interface GrowDeps {
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly upsertIntent: (raw: unknown) => void;
  readonly upsertClaim: (raw: unknown) => void;
  readonly volumeEvents: Pick<VolumeEventRecorder, "ofClaims">;
  /**
   * Milliseconds after which to look again, if others may have written what the agent of a node says; the rule is that
   * of release.
   */
  readonly doubtForMs: (node: string) => number | undefined;
}

const nodesAtOnce = 8;

/**
 * Writes a larger size to the nodes' intents, and the size that the nodes have reached to the PVCs. PVCs are not
 * updated while others than an agent could have written its status.
 * @param attempt runs one write; a failed one does not skip the others
 * @returns milliseconds until the next attempt, if a PVC was skipped for that reason
 */
export async function grow(
  deps: GrowDeps,
  { consumers }: VolumeFacts,
  attempt: (write: () => Promise<void>) => Promise<void>,
): Promise<RequeueAfter | undefined> {
  const { client } = deps;
  const users = consumers.filter(({ intent }) => intent.spec.grant !== undefined);
  const live = users.filter(({ intent }) => intent.metadata.deletionTimestamp === undefined);
  const resolved = live.flatMap(({ intent, resolution }) => (isResolved(resolution) ? [{ intent, resolution }] : []));
  const tell = ({ intent, resolution }: (typeof resolved)[number]) =>
    attempt(async () => {
      const patch = capacityPatch(intent, resolution.capacityBytes);
      if (patch !== undefined) deps.upsertIntent(await client.mergePatch(resource.intents, refOf(intent), patch));
    });
  await runWithConcurrency(nodesAtOnce, resolved, tell, ([error]) => error);

  const ofClaims = new Map(resolved.map(({ resolution }) => [resolution.claim?.metadata.uid, resolution]));
  const intents = users.map(({ intent }) => intent);
  const doubts = intents.filter(canGrow).flatMap(({ spec }) => deps.doubtForMs(spec.nodeName) ?? []);
  let againInMs: number | undefined;
  for (const { claim, persistentVolume } of ofClaims.values()) {
    if (claim === undefined || persistentVolume === undefined) continue;
    await attempt(async () => {
      const status = claimGrowthPatch(claim, persistentVolume, intents, timestamp(deps.clock.now()));
      if (status === undefined) return;
      if (doubts.length > 0) {
        againInMs = Math.min(...doubts);
        return;
      }
      const { namespace, name, uid, resourceVersion } = claim.metadata;
      const ref = { namespace, name, uid, resourceVersion };
      deps.upsertClaim(await client.mergePatchStatus(resource.claims, ref, status));
      if (!("capacity" in status)) return;
      const message = `the volume has grown to ${persistentVolume.capacity} on every node that has it to write`;
      deps.volumeEvents.ofClaims([claim], { type: "Normal", reason: "FileSystemResizeSuccessful", message });
    });
  }
  return againInMs;
}
