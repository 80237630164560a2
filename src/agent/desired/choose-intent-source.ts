import { resource } from "../../api/names.ts";
import { recordIn, stringIn } from "../../kube/json.ts";
import { createReflector, type Reflector } from "../../kube/watch/reflector.ts";
import { reachedBy } from "./api-reached.ts";
import { IndexedIntents } from "./indexed-intents.ts";
import type { IntentSource, IntentSourceDeps } from "./intent-source.ts";
import { type IntentEntry, understand } from "./intents.ts";

/** The source of intents that the agent was configured with. It begins with `start()`. */
export function intentSource(deps: IntentSourceDeps): IntentSource {
  return deps.by === "Index" ? new IndexedIntents(deps) : watchedIntents(deps);
}

function watchedIntents({ system, transport, nodeName, onRestart }: IntentSourceDeps): IntentSource {
  const intents: Reflector<IntentEntry> = createReflector<IntentEntry>({
    system,
    transport,
    onRestart,
    resource: resource.intents,
    fieldSelector: `spec.nodeName=${nodeName}`,
    project: (object) => (isOf(nodeName, object) ? understand(object, (name) => intents.store.get(name)) : undefined),
  });
  return {
    store: intents.store,
    start: () => intents.start(),
    stop: () => intents.stop(),
    notSynced: () => intents.notSynced(),
    upsertIfNewer: (raw) => intents.upsertIfNewer(raw),
    problem: () => undefined,
    unread: () => undefined,
    onReached: (told) => reachedBy(intents, told),
    doubt: () => {}, // whatever becomes of a write, the watch shows it
    relist: () => {}, // and who has written
  };
}

/** Checked whatever the request was: a proxy before the API server could return the intents of another node. */
function isOf(nodeName: string, object: unknown): boolean {
  return stringIn(recordIn(object, "spec"), "nodeName") === nodeName;
}
