import { resource } from "../../api/names.ts";
import { isConflict } from "../../kube/client/api-error.ts";
import type { KubeClient } from "../../kube/client/client.ts";
import { type Intent, refOf } from "../model/projections.ts";

/** An agent may write its status at the same moment, which is no reason to wait for a retry. */
const attempts = 4;

/** What the patch of an intent came to. */
interface Patched {
  readonly written: boolean;
  /** As it was before; undefined: it is gone. */
  readonly intent: Intent | undefined;
}

/**
 * Patches the spec of an intent as the server has it now, if it is still the object that was seen, and due. Takes what
 * the server has into the store.
 */
export async function patchIntent(
  { client, upsertIntent }: { readonly client: KubeClient; readonly upsertIntent: (raw: unknown) => void },
  { metadata: { name, uid } }: Intent,
  isDue: (intent: Intent) => boolean,
  spec: object,
): Promise<Patched> {
  for (let left = attempts; ; left -= 1) {
    const intent = await client.get<Intent>(resource.intents, { name });
    if (intent === undefined || intent.metadata.uid !== uid || !isDue(intent)) {
      if (intent !== undefined) upsertIntent(intent);
      return { written: false, intent };
    }
    try {
      upsertIntent(await client.mergePatch(resource.intents, refOf(intent), { spec }));
      return { written: true, intent };
    } catch (error) {
      if (!isConflict(error) || left <= 1) throw error;
    }
  }
}
