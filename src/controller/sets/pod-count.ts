import type { NodeVolumeSetStatus } from "../../api/types.gen.ts";
import { sameJson } from "../../kube/same-json.ts";
import type { Clock } from "../../ports.ts";
import type { Pods } from "../cache/pods.ts";
import type { Intent } from "../model/projections.ts";

/** How many pods use a set's volume, and when that is worth a write of its status. */
export interface PodCount {
  /** undefined while not all pods are known. */
  of(set: string): number | undefined;
  /** Milliseconds for which a status is not written yet, if nothing but the number of pods would change. 0: now. */
  putOffMs(set: string, before: NodeVolumeSetStatus, after: NodeVolumeSetStatus): number;
  forget(set: string): void;
}

/** Dependencies of counting the pods of a set. */
export interface PodCountDeps {
  readonly clock: Clock;
  readonly pods: Pick<Pods, "complete" | "ofSet">;
  readonly intentsOf: (node: string) => readonly Intent[];
}

/** The number alone is for people: pods that come and go by the thousand are not a write each. */
const everyMs = 5_000;

export function createPodCount({ clock, pods, intentsOf }: PodCountDeps): PodCount {
  /** By set, when the number was last written. */
  const saidAt = new Map<string, number>();

  return {
    of(set) {
      if (!pods.complete()) return undefined;
      const listed = new Map<string, ReadonlySet<string>>();
      let count = 0;
      for (const { uid, nodeName } of pods.ofSet(set)) {
        const onNode = listed.get(nodeName) ?? uidsIn(intentsOf(nodeName));
        listed.set(nodeName, onNode);
        if (onNode.has(uid)) count += 1;
      }
      return count;
    },
    putOffMs(set, before, after) {
      if (before.pods === after.pods) return 0;
      const now = clock.monotonic();
      const onlyThat = sameJson({ ...before, pods: 0 }, { ...after, pods: 0 });
      const leftMs = onlyThat ? Math.max(0, (saidAt.get(set) ?? -everyMs) + everyMs - now) : 0;
      if (leftMs === 0) saidAt.set(set, now);
      return leftMs;
    },
    forget: (set) => void saidAt.delete(set),
  };
}

function uidsIn(intents: readonly Intent[]): Set<string> {
  const live = intents.filter(({ metadata, spec }) => !metadata.deletionTimestamp && spec.observed === undefined);
  return new Set(live.flatMap(({ spec }) => (spec.pods ?? []).map(({ uid }) => uid)));
}
