import { allowsSet } from "../../api/allowed-set.ts";
import type { KeyedQueue } from "../../kube/keyed-queue.ts";
import type { ObjectStore } from "../../kube/object-store.ts";
import { sameJson } from "../../kube/same-json.ts";
import type { Cancel } from "../../ports.ts";
import type { Claim } from "../attach/objects.ts";
import type { Storage } from "../attach/storage.ts";
import type { Gatherer } from "../gather.ts";
import type { SetEntry } from "../projections.ts";
import type { NodeInput } from "../resolve-node.ts";
import { claimNotAllowed, namesThisClaim } from "./allowed-sets.ts";

/**
 * What the claims that are known say of sets. A claim that is not there has nothing to say: the volume waits for it.
 */
export function consentOf({ claims, complete }: Pick<Storage, "claims" | "complete">): NodeInput["consent"] {
  return (set, { persistentVolumeClaim: named }) => {
    if (named === undefined) return undefined;
    if (!complete()) return "unknown";
    const claim = claims.store.get(named.claimName, named.namespace);
    return claim && claimNotAllowed([claim], [set]);
  };
}

export interface ConsentTriggers {
  readonly storage: Pick<Storage, "claims" | "complete">;
  readonly sets: ObjectStore<SetEntry>;
  readonly gatherer: Pick<Gatherer, "forgetNodesOf">;
  readonly queues: { readonly [queue in "sets" | "nodes" | "readiness"]: Pick<KeyedQueue, "add"> };
  /** The nodes with a pod that was told that a claim does not allow a set. */
  readonly refused: (set: string) => readonly string[];
}

/** A claim that comes, goes, or allows another set than before, makes the nodes of the sets due that name it. */
export function connectConsents({ storage, sets, gatherer, queues, refused }: ConsentTriggers): Cancel {
  function changed(claim: Claim, isMeant: (set: string) => boolean = () => true): void {
    // When all of them are known, every node is looked at.
    if (!storage.complete()) return;
    const meant = [...sets.list()].flatMap(({ metadata: { name }, spec }) =>
      spec !== undefined && namesThisClaim(spec.volume.source, claim) && isMeant(name) ? [name] : [],
    );
    if (meant.length > 0) due(meant);
  }

  /** All at once: what is worked out for a node is of all its sets. */
  function due(names: readonly string[]): void {
    for (const set of names) queues.sets.add(set);
    for (const node of new Set([...gatherer.forgetNodesOf(names), ...names.flatMap(refused)])) {
      queues.nodes.add(node);
      queues.readiness.add(node);
    }
  }

  return storage.claims.store.subscribe({
    onAdd: (claim) => changed(claim),
    onUpdate(before, after) {
      // Most changes are of a status.
      if (sameJson(before.metadata.labels, after.metadata.labels)) return;
      changed(after, (set) => allowsSet(before.metadata.labels, set) !== allowsSet(after.metadata.labels, set));
    },
    onDelete: (claim) => changed(claim),
  });
}
