import type { IndexedIntent, NodeVolumeState } from "../../api/types.gen.ts";
import type { SourceProblem } from "./intent-source.ts";
import type { IntentEntry } from "./intents.ts";

/** The index of a node's intents by name, or why there is none that an agent could go by. */
export type Index = { readonly entries: ReadonlyMap<string, IndexedIntent> } | { readonly problem: SourceProblem };

/** PURE. The index that a NodeVolumeState has. What is missing is not empty: then intents are not known. */
export function indexIn(state: NodeVolumeState | undefined): Index {
  if (state === undefined) return missing("the node has no NodeVolumeState yet");
  const { intents, omitted } = state.spec ?? {};
  if (omitted !== undefined) {
    const message = `the node has ${omitted} intents, more than an index holds: it needs fewer, or an agent with --intents=Watch`;
    return { problem: { reason: "IndexTooLarge", message } };
  }
  if (intents === undefined) return missing("its NodeVolumeState has no spec.intents");
  return { entries: new Map(intents.map((entry) => [entry.name, entry])) };
}

function missing(what: string): Index {
  const message = `${what}: the controller needs --index-intents, or the agent --intents=Watch`;
  return { problem: { reason: "IndexMissing", message } };
}

/** What an index says of one intent, as one text; "" if it does not name it. */
export function markOf(entry: IndexedIntent | undefined): string {
  if (entry === undefined) return "";
  const { uid, generation, controllerStatus = "" } = entry;
  return `${uid} ${generation} ${controllerStatus}`;
}

/** PURE data: which intents of the node's index have to be read from the API server, and which are up to date. */
export interface IndexReads {
  /** Names that are to be read, each with what the index says of it. */
  readonly due: ReadonlyMap<string, string>;
  /** The others: what the index says of them is known. */
  readonly known: ReadonlyMap<string, string>;
}

/**
 * PURE. Intents to read: those whose index entry differs from the entry of the last read and from the known object. An
 * outdated index costs a read and never brings an older object. The index of a restored API server brings its present
 * objects.
 * @param known objects that were read
 * @param onRecord names of volumes that may be mounted: each is read before it counts as deleted, whatever the index
 *   lists
 * @param answered by name, the index entry of the last read
 */
export function indexReads(
  index: ReadonlyMap<string, IndexedIntent>,
  known: ReadonlyMap<string, IntentEntry>,
  onRecord: Iterable<string>,
  answered: ReadonlyMap<string, string>,
): IndexReads {
  const reads = { due: new Map<string, string>(), known: new Map<string, string>() };
  for (const name of new Set([...index.keys(), ...known.keys(), ...onRecord])) {
    const entry = index.get(name);
    const mark = markOf(entry);
    const before = answered.get(name);
    const isKnown = before === mark || isNoNews(entry, known.get(name), before);
    reads[isKnown ? "known" : "due"].set(name, mark);
  }
  return reads;
}

/** Whether what the index says of an intent is known: by another read, or the answer to a write of our own. */
function isNoNews(entry: IndexedIntent | undefined, known: IntentEntry | undefined, answered = ""): boolean {
  if (entry === undefined || known === undefined) return false;
  const { uid, generation } = known.metadata;
  const saidBefore = answered.split(" ")[2] ?? "";
  return uid === entry.uid && generation === entry.generation && (entry.controllerStatus ?? "") === saidBefore;
}
