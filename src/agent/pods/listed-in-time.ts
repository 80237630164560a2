import type { PodVolumes } from "../../csi/server/ports.ts";
import type { Timers } from "../../ports.ts";

/**
 * Milliseconds that a call waits for an intent to name its pod, or for what is wrong with a volume that the pod has
 * already. Usually the pod is named before kubelet asks. A kubelet that was killed while a pod ended asks for its
 * volumes once more, and does not give them back before it has an answer (seen with 1.36.3): the pod would not end for
 * as long as a call can wait. Whom nobody names is called again, later each time. Nor does a pod end while kubelet
 * brings new tokens for it, about each minute, and has no answer: what it has is mended without a call.
 */
const listedWithinMs = 20_000;

/**
 * The same volumes, of which a publish ends early while no intent names the pod, or where the pod has had its volume
 * before.
 */
export function listedInTime(
  volumes: PodVolumes,
  {
    timers,
    isListed,
    isHad,
  }: { readonly timers: Timers; isListed(path: string): boolean; isHad(path: string): boolean },
): PodVolumes {
  return {
    async publish(request, signal) {
      const late = new AbortController();
      const forget = timers.after(listedWithinMs, () => {
        if (!isListed(request.path) || isHad(request.path)) late.abort();
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
