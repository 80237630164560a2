import { resource } from "../../api/names.ts";
import type { KubeClient } from "../../kube/client/client.ts";
import type { Logger } from "../../ports.ts";
import { indexDigest } from "../model/index-digest.ts";
import { indexOf } from "../model/intent-index.ts";
import type { Intent, StateEntry } from "../model/projections.ts";

/** Dependencies of writing the index of a node's intents (decision 0067). */
export interface WriteIndexDeps {
  readonly client: KubeClient;
  readonly log: Logger;
  /**
   * Whether nodes have an index. If not, one that is there is taken away: nobody would keep it true (decision 0067).
   */
  readonly indexIntents: boolean;
  readonly intentsOf: (node: string) => Intent[];
  /** Takes the server's answer into the store, so that the next decision sees it. */
  readonly upsert: (raw: unknown) => void;
}

/**
 * Makes the index in a node's state what its intents are. Whoever calls it has read them completely. Nothing is written
 * while it is in line; a state that is another by now is refused by its resourceVersion, and tried again.
 */
export async function writeIndex(deps: WriteIndexDeps, { metadata, index }: StateEntry): Promise<void> {
  const { client, log, indexIntents, intentsOf } = deps;
  const { name, uid, resourceVersion } = metadata;
  const intents = intentsOf(name);
  const wanted = indexIntents ? indexOf(intents) : undefined;
  if (indexDigest(wanted) === index) return;
  if (wanted !== undefined && wanted.intents?.length !== intents.length) {
    const facts = { node: name, intents: intents.length, listed: wanted.intents?.length ?? 0 };
    log.warn("a node has more intents than an index holds", facts);
  }
  const spec = wanted === undefined ? null : { intents: null, omitted: null, ...wanted };
  deps.upsert(await client.mergePatch(resource.states, { name, uid, resourceVersion }, { spec }));
  if (wanted === undefined) log.info("index of a node's intents removed", { node: name });
}
