import { shortDigest } from "../../api/digest.ts";
import type { IndexedIntent, NodeVolumeStateSpec } from "../../api/types.gen.ts";
import { canonicalJson, compareText } from "../util/canonical-json.ts";
import { type Intent, isKubelets } from "./projections.ts";

/** As many as the CRD lets in. With the longest of names that is some 700 KiB, half of what etcd takes. */
export const mostIndexed = 1_000;

/**
 * The index of one node: what its agent has to have read. Sorted, so that equal intents have an equal index. Of more
 * than an index can hold those are left out that are only observed: whoever may make pods there makes as many of them
 * as he likes, and must not keep others from their volumes. Of more even so none is listed: half an index would look
 * like a whole one. Pure.
 */
export function indexOf(intents: readonly Intent[]): NodeVolumeStateSpec {
  const listed = intents.length > mostIndexed ? intents.filter((intent) => !isKubelets(intent)) : intents;
  if (listed.length > mostIndexed) return { omitted: listed.length };
  return { intents: listed.map(indexEntry).sort((a, b) => compareText(a.name, b.name)) };
}

/**
 * The marks by which an agent recognizes a changed intent. Every change that it acts on raises the generation, a
 * deletion included. The controller's part of the status raises no generation, and the agent repeats it to people.
 */
export function indexEntry({ metadata, status }: Intent): IndexedIntent {
  const { name, uid = "", generation = 0 } = metadata;
  const { attach, agentState } = status;
  const said = attach !== undefined || agentState !== undefined;
  return {
    name,
    uid,
    generation,
    ...(said && { controllerStatus: shortDigest(canonicalJson({ attach, agentState })) }),
  };
}
