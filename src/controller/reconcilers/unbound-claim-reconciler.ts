import { annotation, resource } from "../../api/names.ts";
import type { KubeClient } from "../../kube/client/client.ts";
import type { RequeueAfter } from "../../kube/keyed-queue.ts";
import type { Clock, Logger } from "../../ports.ts";
import type { AttachStatusWriter } from "../attach/attach-status-writer.ts";
import { isResolved, resolveVolume } from "../attach/resolve-volume.ts";
import type { VolumeIndex } from "../attach/volume-index.ts";
import { claimNotAllowed } from "../claims/allowed-sets.ts";
import { chooseNode } from "../claims/select-node.ts";
import type { Intent } from "../model/projections.ts";
import type { Claim } from "../model/storage-objects.ts";
import { requestersOf } from "../model/volume-identity.ts";

/** Dependencies of reconciling claims that wait for their first consumer (volumeBindingMode WaitForFirstConsumer). */
export interface UnboundDeps {
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly log: Logger;
  readonly index: VolumeIndex;
  readonly attachStatus: AttachStatusWriter;
  readonly upsertClaim: (raw: unknown) => void;
}

/** Intents of one set come node by node: for so long the same nodes must want a claim before one is chosen. */
const settleMs = 1_000;

/** Looks after intents whose volume is not known yet. */
export interface Unbound {
  /**
   * Says why, and chooses the node for a claim that waits for its first consumer.
   * @returns milliseconds after which to look again, if any
   */
  reconcile(intent: Intent): Promise<RequeueAfter | undefined>;
  /** The claim is gone, and with it what is remembered of it. */
  gone(claim: Claim): void;
}

/**
 * Names a node for a claim that waits for its first consumer, as kube-scheduler does for pods, and waits for its
 * binding.
 */
export function createUnbound(deps: UnboundDeps): Unbound {
  /** By UID of the claim, what was written here; the time is monotonic. */
  const chosen = new Map<string, { readonly times: number; readonly at: number }>();
  /** By UID of the claim, since when which nodes want it. */
  const wanted = new Map<string, { readonly nodes: string; readonly at: number }>();

  function unsettledMs(uid: string, nodes: ReadonlySet<string>, now: number): number {
    const text = [...nodes].sort().join();
    const known = wanted.get(uid);
    const since = known?.nodes === text ? known : { nodes: text, at: now };
    wanted.set(uid, since);
    return Math.max(0, since.at + settleMs - now);
  }

  return {
    async reconcile(intent) {
      const resolution = resolveVolume(intent.spec, deps.index.objects);
      if (isResolved(resolution)) return undefined;
      const { needsNode } = resolution;
      const waiting = needsNode && claimNotAllowed([needsNode], requestersOf(intent));
      if (needsNode === undefined || waiting !== undefined)
        return deps.attachStatus.write(intent, waiting ?? resolution.waiting);
      return choose(needsNode, intent);
    },
    gone({ metadata: { uid = "" } }) {
      chosen.delete(uid);
      wanted.delete(uid);
    },
  };

  async function choose(claim: Claim, intent: Intent): Promise<RequeueAfter | undefined> {
    const { namespace = "", name, uid = "", resourceVersion } = claim.metadata;
    const now = deps.clock.monotonic();
    const before = chosen.get(uid);
    const earlier = before && { times: before.times, agoMs: now - before.at };
    const allowed = (one: Intent) => claimNotAllowed([claim], requestersOf(one)) === undefined;
    const nodes = nodesThatWant(deps.index.intentsOfClaim(namespace, name).filter(allowed));
    const { waiting, select } = chooseNode(claim, nodes, earlier);
    const waitMs = Math.max(select?.inMs ?? 0, unsettledMs(uid, nodes, now));
    const early = await deps.attachStatus.write(intent, waiting);
    if (select === undefined || waitMs > 0) return select === undefined ? early : waitMs;
    const patch = { metadata: { annotations: { [annotation.selectedNode]: select.node } } };
    deps.upsertClaim(await deps.client.mergePatch(resource.claims, { namespace, name, uid, resourceVersion }, patch));
    chosen.set(uid, { times: (before?.times ?? 0) + 1, at: now });
    deps.log.info("node chosen for a claim", { claim: `${namespace}/${name}`, node: select.node });
    return undefined;
  }
}

function nodesThatWant(intents: readonly Intent[]): Set<string> {
  const wanting = intents.filter(
    ({ metadata, spec }) => metadata.deletionTimestamp === undefined && spec.mode === "Manage",
  );
  return new Set(wanting.map(({ spec }) => spec.nodeName));
}
