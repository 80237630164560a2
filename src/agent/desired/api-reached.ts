import type { KubeObject } from "../../api/meta.ts";
import type { Reflector } from "../../kube/watch/reflector.ts";
import type { Cancel } from "../../ports.ts";

/** Tells each time that the API server answers a watch again: a single read may fail for reasons of its own. */
export function reachedBy<T extends KubeObject>({ store }: Pick<Reflector<T>, "store">, told: () => void): Cancel {
  return store.subscribe({
    onState({ connected }) {
      if (connected) told();
    },
  });
}
