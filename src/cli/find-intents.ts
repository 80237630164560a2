import { setLabelPrefix } from "../api/names.ts";
import type { NodeVolumeIntent, NodeVolumeSet } from "../api/types.gen.ts";
import { CommandError, UsageError } from "./exit-code.ts";
import { didYouMean } from "./nearest.ts";
import { typedName } from "./typed-name.ts";

/** What a word of the command line may be the name of. */
export interface Known {
  readonly intents: readonly NodeVolumeIntent[];
  readonly sets: readonly NodeVolumeSet[];
  /** Nodes, of which some have no intent. */
  readonly nodes: readonly string[];
}

/** What a word means. A set is there also if no node has an intent of it. */
export interface Named {
  readonly intents: readonly NodeVolumeIntent[];
  readonly sets: readonly NodeVolumeSet[];
  /** The node, if it is one's name: of the sets only what is there is meant. */
  readonly node?: string;
}

/**
 * PURE. The intents that a word of the command line means: the one of that name; else those of that volume, or of that
 * set, on every node; `NODE/VOLUME` for one node.
 */
export function intentsNamed(word: string, intents: readonly NodeVolumeIntent[]): NodeVolumeIntent[] {
  const exact = intents.filter(({ metadata }) => metadata.name === word);
  if (exact.length > 0) return exact;
  const [node, volume] = word.split("/", 2);
  if (volume !== undefined) return intents.filter((i) => i.spec.nodeName === node && isCalled(i, volume));
  return intents.filter((intent) => isCalled(intent, word));
}

function isCalled(intent: NodeVolumeIntent, word: string): boolean {
  return intent.spec.volumeName === word || isOfSet(intent, word) || intent.metadata.name === word;
}

/** PURE. Whether a set has asked for it. */
export function isOfSet({ metadata }: NodeVolumeIntent, set: string): boolean {
  return metadata.labels?.[`${setLabelPrefix}${set}`] !== undefined;
}

/** PURE. The volumes and sets of a name, which may have its type before it; undefined if there are none. */
export function volumesNamed(word: string, { intents, sets }: Pick<Known, "intents" | "sets">): Named | undefined {
  const { kind, name } = typedName(word) ?? { name: word };
  const setsNamed = sets.filter(({ metadata }) => metadata.name === name);
  const found = (): Named => {
    switch (kind) {
      case "set":
        return { intents: intents.filter((one) => isOfSet(one, name)), sets: setsNamed };
      case "intent":
        return { intents: intents.filter(({ metadata }) => metadata.name === name), sets: [] };
      case "volume":
        return { intents: intents.filter(({ spec }) => spec.volumeName === name), sets: [] };
      default:
        return { intents: intentsNamed(word, intents), sets: setsNamed };
    }
  };
  const meant = found();
  return meant.intents.length + meant.sets.length > 0 ? meant : undefined;
}

/** PURE. What the word means, a node's name first; all without a word. @throws CommandError if that is nothing */
export function resolveName(word: string | undefined, known: Known): Named {
  if (word === undefined) return known;
  const { kind, name } = typedName(word) ?? { name: word };
  if (kind === "pod" || kind === "pvc")
    throw new UsageError(`${word} is not a node, a set or a volume: kubectl nvi explain ${word} explains its volumes`);
  if (kind === undefined || kind === "node") {
    const intents = known.intents.filter(({ spec }) => spec.nodeName === name);
    if (intents.length > 0 || known.nodes.includes(name)) return { intents, sets: known.sets, node: name };
  }
  const meant = kind === "node" ? undefined : volumesNamed(word, known);
  if (meant === undefined) throw new CommandError(notFound(word, known));
  return meant;
}

/** PURE. That nothing has this name, and the nearest that has. */
export function notFound(word: string, { intents, sets, nodes }: Known): string {
  const { kind, name } = typedName(word) ?? { name: word };
  const names: { readonly [kind: string]: readonly string[] } = {
    node: [...nodes, ...intents.map(({ spec }) => spec.nodeName)],
    set: sets.map(({ metadata }) => metadata.name),
    intent: intents.map(({ metadata }) => metadata.name),
    volume: intents.map(({ spec }) => spec.volumeName),
  };
  const own = names[kind ?? ""];
  const what = own === undefined ? "node, volume or set" : kind;
  const candidates = new Set(own ?? Object.values(names).flat());
  return `there is no ${what} ${JSON.stringify(name)}${didYouMean(name, [...candidates])}`;
}

/** PURE. By node, then volume: the order of all tables. */
export function inOrder(intents: readonly NodeVolumeIntent[]): NodeVolumeIntent[] {
  const key = ({ spec, metadata }: NodeVolumeIntent) => [spec.nodeName, spec.volumeName, metadata.name].join("\0");
  return [...intents].sort((a, b) => (key(a) < key(b) ? -1 : 1));
}
