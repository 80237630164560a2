import type { KubeObject } from "../../api/meta.ts";
import { sameJson } from "../../kube/same-json.ts";
import type { ObjectStore } from "../../kube/watch/object-store.ts";
import type { Cancel } from "../../ports.ts";
import type { Watches } from "../cache/watches.ts";

/**
 * Calls `changed` when something has changed that the page shows. Nodes are updated every few seconds with fields that
 * it does not show, and so are Leases; the intents' status shows an expired Lease, and createLateAgents a late one.
 */
export function subscribeTo(watches: Watches, changed: () => void): Cancel[] {
  function on<T extends KubeObject>(store: ObjectStore<T>, shown: (object: T) => unknown): Cancel {
    return store.subscribe({
      onAdd: changed,
      onUpdate: (before, after) => {
        if (!sameJson(shown(before), shown(after))) changed();
      },
      onDelete: changed,
      onState: changed,
    });
  }
  return [
    on(watches.sets.store, ({ invalid, status }) => [invalid, status]),
    on(watches.nodes.store, ({ ready }) => ready),
    on(watches.intents.store, ({ metadata: { deletionTimestamp, generation, labels }, spec, status }) => [
      [deletionTimestamp, generation, labels],
      [spec.suspend, spec.mode],
      status,
    ]),
    on(watches.states.store, ({ status, orphans, orphaned }) => [status, orphans, orphaned]),
  ];
}
