import { label } from "../../api/names.ts";
import type { ObjectStore } from "../../kube/watch/object-store.ts";
import type { Cancel, Clock } from "../../ports.ts";
import type { Claim } from "../model/storage-objects.ts";

/** Since when the owners of claims have kept pods out of them, by the label `nodevolume.dev/reserved`. */
export interface ReservedClaims {
  /**
   * Monotonic milliseconds since when it is certain that this version of a claim had the label without a break;
   * undefined if it has none. Any change of the claim begins anew: in a gap of the watch the label may have been off.
   */
  since(claim: Claim): number | undefined;
  stop(): void;
}

/** Follows a store from its beginning on. */
export function followReserved(store: Pick<ObjectStore<Claim>, "subscribe">, clock: Clock): ReservedClaims {
  /** By UID. */
  const seen = new Map<string, { readonly resourceVersion: string | undefined; readonly at: number }>();
  const look = (claim: Claim): void => {
    const { uid = "", resourceVersion } = claim.metadata;
    if (isReserved(claim)) seen.set(uid, { resourceVersion, at: clock.monotonic() });
    else seen.delete(uid);
  };
  const stop: Cancel = store.subscribe({
    onAdd: look,
    onUpdate: (_, after) => look(after),
    onDelete: ({ metadata: { uid = "" } }) => void seen.delete(uid),
  });
  return {
    since({ metadata: { uid = "", resourceVersion } }) {
      const found = seen.get(uid);
      return found?.resourceVersion === resourceVersion ? found?.at : undefined;
    },
    stop,
  };
}

function isReserved({ metadata }: Claim): boolean {
  return Object.hasOwn(metadata.labels ?? {}, label.reserved);
}
