import { setLabelPrefix } from "../api/names.ts";
import type { NodeVolumeIntent } from "../api/types.gen.ts";
import { CommandError } from "./exit-code.ts";
import { didYouMean } from "./nearest.ts";

/**
 * PURE. The intents that a word of the command line means: the one of that name; else those of that volume, or of that set, on
 * every node; `NODE/VOLUME` for one node.
 */
export function intentsNamed(word: string, intents: readonly NodeVolumeIntent[]): NodeVolumeIntent[] {
  const exact = intents.filter(({ metadata }) => metadata.name === word);
  if (exact.length > 0) return exact;
  const [node, volume] = word.split("/", 2);
  if (volume !== undefined) return intents.filter((i) => i.spec.nodeName === node && isCalled(i, volume));
  return intents.filter((intent) => isCalled(intent, word));
}

function isCalled({ metadata, spec }: NodeVolumeIntent, word: string): boolean {
  return (
    spec.volumeName === word || metadata.labels?.[`${setLabelPrefix}${word}`] !== undefined || metadata.name === word
  );
}

/** PURE. Those of a node, or else those that the word means; all without a word. @throws CommandError if there are none */
export function intentsOf(
  word: string | undefined,
  intents: readonly NodeVolumeIntent[],
  nodes: readonly string[],
): NodeVolumeIntent[] {
  if (word === undefined) return [...intents];
  const onNode = intents.filter(({ spec }) => spec.nodeName === word);
  if (onNode.length > 0 || nodes.includes(word)) return onNode;
  const found = intentsNamed(word, intents);
  if (found.length > 0) return found;
  throw new CommandError(notFound(word, intents, nodes));
}

/** PURE. That nothing has this name, and the nearest that has. */
export function notFound(word: string, intents: readonly NodeVolumeIntent[], nodes: readonly string[] = []): string {
  const names = intents.flatMap(({ metadata, spec }) => [metadata.name, spec.volumeName, spec.nodeName]);
  return `there is no node, volume or set ${JSON.stringify(word)}${didYouMean(word, [...new Set([...names, ...nodes])])}`;
}

/** PURE. By node, then volume: the order of all tables. */
export function inOrder(intents: readonly NodeVolumeIntent[]): NodeVolumeIntent[] {
  const key = ({ spec, metadata }: NodeVolumeIntent) => [spec.nodeName, spec.volumeName, metadata.name].join("\0");
  return [...intents].sort((a, b) => (key(a) < key(b) ? -1 : 1));
}
