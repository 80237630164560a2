import { finalizer, resource } from "../api/names.ts";
import type { NodeVolumeIntentSpec } from "../api/types.gen.ts";
import { isConflict } from "../kube/api-error.ts";
import type { KubeClient } from "../kube/client.ts";
import type { Logger, Random } from "../ports.ts";
import type { IntentWrite } from "./diff-intents.ts";
import type { Intent } from "./projections.ts";

export interface WriteIntentsDeps {
  readonly client: KubeClient;
  readonly random: Random;
  readonly log: Logger;
  /** Takes the server's answer into the store, so that the next decision sees it. */
  readonly upsert: (raw: unknown) => void;
}

/**
 * Carries the writes out in their order and ends at the first that fails, with its error: the next run starts from what
 * is so then. A patch before a deletion hands its version on to it.
 */
export async function writeIntents(deps: WriteIntentsDeps, writes: readonly IntentWrite[]): Promise<void> {
  const newer = new Map<string, Intent>();
  for (const write of writes) {
    const name = write.verb === "create" ? write.name : write.intent.metadata.name;
    const answer = await writeOne(deps, write, newer.get(name));
    deps.log.info("intent written", { intent: name, verb: write.verb });
    if (answer === undefined) continue;
    newer.set(name, answer);
    deps.upsert(answer);
  }
}

async function writeOne(deps: WriteIntentsDeps, write: IntentWrite, newer: Intent | undefined) {
  const { client } = deps;
  switch (write.verb) {
    case "create":
      return create(deps, write);
    case "patch": {
      const spec = "spec" in write.patch ? write.patch.spec : undefined;
      const patch = write.needsGrant ? { ...write.patch, spec: { ...(spec as object), ...grant(deps) } } : write.patch;
      return client.mergePatch<Intent>(resource.intents, refOf(write.intent), patch);
    }
    case "delete":
      return client.delete<Intent>(resource.intents, refOf(newer ?? write.intent));
  }
}

async function create(deps: WriteIntentsDeps, write: Extract<IntentWrite, { verb: "create" }>): Promise<Intent> {
  const { client, upsert } = deps;
  const spec: NodeVolumeIntentSpec = { ...write.spec, ...(write.needsGrant && grant(deps)) };
  const metadata = { name: write.name, labels: { ...write.labels }, finalizers: [finalizer.inUse] };
  try {
    return await client.create<Intent>(resource.intents, { metadata, spec } as Intent);
  } catch (error) {
    // An earlier attempt came through unanswered, or the watch is late: look before the next one.
    const existing = isConflict(error) ? await client.get<Intent>(resource.intents, { name: write.name }) : undefined;
    if (existing !== undefined) upsert(existing);
    throw error;
  }
}

/** A new grant. The sources of this version need no attachment, so it is given with the intent. */
function grant({ random }: WriteIntentsDeps) {
  return { grant: { id: random.uuid() } };
}

export function refOf({ metadata }: Intent) {
  return { name: metadata.name, uid: metadata.uid, resourceVersion: metadata.resourceVersion };
}
