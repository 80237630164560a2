import type { Intent } from "../model/projections.ts";
import { labelledSets } from "../model/volume-identity.ts";
import { createBestFitting } from "./best-fitting.ts";
import type { Found, FoundVolume } from "./details.ts";
import { weightOf } from "./lines.ts";
import { standingOf } from "./standing-of.ts";

/**
 * A search, independent of the cluster: words that a person typed, each of which must be part of a name of the volume;
 * or names out of a text, each of which may be a whole name.
 */
export type Search = { readonly words: readonly string[] } | { readonly names: readonly string[] };

/** Matches of a search that are shown; the others are only counted. */
export const mostFound = 100;
const mostWords = 60;
/** Pods that are named of one volume: a person reads no more. */
const mostPods = 20;

/**
 * PURE. The search that a query of a URL asks for: `words` or `names`, each with spaces between.
 * @returns undefined if it asks for none
 */
export function searchOf(query: URLSearchParams): Search | undefined {
  const listOf = (name: string) =>
    (query.get(name) ?? "")
      .toLowerCase()
      .split(/\s+/)
      .filter((one) => one !== "");
  const [words, names] = [listOf("words").slice(0, mostWords), listOf("names").slice(0, mostWords)];
  if (words.length > 0) return { words };
  return names.length > 0 ? { names } : undefined;
}

/** PURE. Volumes by what people call them, in steps: a large cluster has hundreds of thousands of them. */
export function* findVolumes(intents: Iterable<Intent>, search: Search): Generator<void, Found> {
  const score = "words" in search ? byWords(search.words) : byNames(new Set(search.names));
  const fitting = createBestFitting(mostFound);
  for (const intent of intents) {
    const points = score(intent);
    if (points > 0) fitting.add({ intent, score: points, weight: weightOf(standingOf(intent).standing) });
    yield;
  }
  const { best, omitted } = fitting.found();
  return { volumes: best.map(({ intent }) => shown(intent)), omitted };
}

function byWords(words: readonly string[]): (intent: Intent) => number {
  return (intent) => {
    const { metadata, spec, status } = intent;
    const pods = (spec.pods ?? []).flatMap(({ namespace, name, uid }) => [`${namespace}/${name}`, uid]);
    const paths = spec.mounts.map(({ path }) => path);
    const names = [metadata.name, spec.nodeName, spec.volumeName, claimOf(intent), spec.observed?.volumeName];
    const reasons = [status.waiting?.reason, status.attach?.reason, standingOf(intent).reason];
    const text = [...names, ...labelledSets(intent.metadata), ...pods, ...paths, ...reasons].join("\n").toLowerCase();
    return words.every((word) => text.includes(word)) ? 1 : 0;
  };
}

/** A node alone finds nothing: it has its own page. Beside another name it says which of the volumes is meant. */
function byNames(names: ReadonlySet<string>): (intent: Intent) => number {
  const points = (weight: number, name: string | undefined) => (name !== undefined && names.has(name) ? weight : 0);
  return (intent) => {
    const { metadata, spec } = intent;
    const { persistentVolumeClaim: claim } = spec.source;
    let own = points(16, metadata.name) + points(8, claim?.claimName) + points(8, spec.observed?.volumeName);
    own += points(4, spec.volumeName);
    for (const set of labelledSets(intent.metadata)) own += points(4, set);
    // The volume's name in the pod says which of the pod's volumes it is.
    for (const { name, uid, volume } of spec.pods ?? [])
      if (names.has(name) || names.has(uid)) own += 8 + points(2, volume);
    return own === 0 ? 0 : own + points(32, spec.nodeName);
  };
}

function claimOf({ spec }: Intent): string | undefined {
  const { persistentVolumeClaim: claim } = spec.source;
  return claim === undefined ? undefined : `${claim.namespace}/${claim.claimName}`;
}

function shown(intent: Intent): FoundVolume {
  const { metadata, spec } = intent;
  const { standing, reason } = standingOf(intent);
  const sets = labelledSets(metadata).sort();
  const claim = claimOf(intent);
  return {
    ...{ name: metadata.name, volume: spec.volumeName, node: spec.nodeName, sets, standing, reason },
    ...(claim !== undefined && { claim }),
    pods: (spec.pods ?? []).slice(0, mostPods).map(({ namespace, name }) => `${namespace}/${name}`),
  };
}
