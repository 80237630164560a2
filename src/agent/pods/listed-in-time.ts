import type { PodVolumes } from "../../csi/server/ports.ts";
import type { Timers } from "../../ports.ts";

/**
 * Milliseconds that NodePublishVolume waits for an intent to list its pod, or for the repair of a volume that the pod
 * has already. Usually the intent lists the pod before kubelet's call. A kubelet that was killed while a pod ended
 * publishes its volumes once more, and unpublishes them only after the reply (seen with 1.36.3): such a pod would not
 * end for as long as a call can wait. A pod that is not listed is called for again, with growing delays. A pod does not
 * end either while kubelet waits for the reply to a call with new tokens, about every minute; its volume is repaired
 * without a call.
 */
const listedWithinMs = 20_000;

/** The same volumes, whose publish ends early while no intent names the pod, or if the pod has had its volume. */
export function listedInTime(
  volumes: PodVolumes,
  by: { readonly timers: Timers; isListed(path: string): boolean; isHad(path: string): boolean },
): PodVolumes {
  return {
    async publish(request, signal) {
      const late = new AbortController();
      const forget = by.timers.after(listedWithinMs, () => {
        if (!by.isListed(request.path) || by.isHad(request.path)) late.abort();
      });
      try {
        await volumes.publish(request, AbortSignal.any([signal, late.signal]));
      } finally {
        forget();
      }
    },
    unpublish: (target, signal) => volumes.unpublish(target, signal),
  };
}
