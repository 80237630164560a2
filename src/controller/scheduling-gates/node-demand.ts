import { matchesSelector } from "../../api/match-node.ts";
import type { NodeSelectorTerm, NodeVolumeSetSpec } from "../../api/types.gen.ts";
import { arrayIn } from "../../kube/json.ts";
import type { NodeInfo } from "../model/projections.ts";
import { canonicalJson } from "../util/canonical-json.ts";

/** What must hold for one Node, all of it. As a NodeSelectorTerm. */
export interface Term {
  readonly matchExpressions: readonly unknown[];
  readonly matchFields: readonly unknown[];
}

/** The Nodes where something is to be had: these labels, and one of these terms. */
export interface NodeDemand {
  readonly nodeSelector: { readonly [key: string]: string };
  /** undefined: no more than the labels. None: no Node at all. */
  readonly terms: readonly Term[] | undefined;
}

/** Why Nodes cannot be said in a way that a pod can have. */
export interface Unsayable {
  readonly problem: string;
}

/** As many terms as a pod gets; two volumes with eight zones each have as many. */
const mostTerms = 64;

/** Terms as they stand in an object. Pure. */
export function termsIn(raw: readonly unknown[] | undefined): readonly Term[] | undefined {
  return raw?.map((term) => ({
    matchExpressions: arrayIn(term, "matchExpressions"),
    matchFields: arrayIn(term, "matchFields"),
  }));
}

/** Of these, those that match anything: one without requirements matches no Node. Pure. */
export function termsOf(raw: readonly unknown[] | undefined): readonly Term[] | undefined {
  return termsIn(raw)?.filter((term) => sizeOf(term) > 0);
}

/** The Nodes that a set selects, apart from their taints, which no affinity can name. Pure. */
export function demandOfSet({ nodeSelector = {}, affinity }: NodeVolumeSetSpec): NodeDemand {
  const required = affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  return { nodeSelector, terms: termsOf(required?.nodeSelectorTerms) };
}

/** The Nodes where all of it is to be had. Pure. */
export function allOf(demands: readonly NodeDemand[]): NodeDemand | Unsayable {
  const nodeSelector: { [key: string]: string } = {};
  let terms: readonly Term[] | undefined;
  for (const demand of demands) {
    for (const [key, value] of Object.entries(demand.nodeSelector)) {
      const other = Object.hasOwn(nodeSelector, key) ? nodeSelector[key] : undefined;
      if (other !== undefined && other !== value) {
        return { problem: `one volume is on nodes with ${key}=${other} only, another on nodes with ${key}=${value}` };
      }
      nodeSelector[key] = value;
    }
    const more = demand.terms;
    if (more === undefined) continue;
    terms = terms === undefined ? more : unique(terms.flatMap((a) => more.map((b) => both(a, b))));
    if (terms.length > mostTerms) {
      return {
        problem: `the nodes of its volumes make ${terms.length} terms of node affinity, ${mostTerms} is the most`,
      };
    }
  }
  return { nodeSelector, terms };
}

/** What a pod gets that waits at a gate: labels to add, and terms in place of its own. */
export interface Narrowing {
  readonly nodeSelector: { readonly [key: string]: string };
  /** undefined: its own stay. */
  readonly terms: readonly Term[] | undefined;
}

/**
 * What makes a pod's own choice of Nodes fulfil a demand, by what the API server allows on a pod with gates: labels may
 * be added, and each of its terms may get further requirements; there may be no more terms than it has, unless it has
 * none. Pure.
 * @param own of the pod: its nodeSelector and the terms of its required node affinity
 * @param node the Node of a name, for a pod that is meant for one
 */
export function narrow(
  own: NodeDemand,
  demand: NodeDemand,
  node: (name: string) => NodeInfo | undefined,
): Narrowing | Unsayable {
  const added = Object.entries(demand.nodeSelector).filter(([key]) => !Object.hasOwn(own.nodeSelector, key));
  for (const [key, value] of Object.entries(demand.nodeSelector)) {
    const chosen = Object.hasOwn(own.nodeSelector, key) ? own.nodeSelector[key] : value;
    if (chosen !== value)
      return { problem: `it selects nodes with ${key}=${chosen}, and the volume is on nodes with ${key}=${value}` };
  }
  const nodeSelector = Object.fromEntries(added);
  const { terms } = demand;
  if (terms === undefined) return { nodeSelector, terms: undefined };
  if (own.terms === undefined) return { nodeSelector, terms };
  const narrowed: Term[] = [];
  for (const term of own.terms) {
    const next = narrowedTerm(term, terms, node);
    if ("problem" in next) return next;
    narrowed.push(next);
  }
  const same = narrowed.every((term, i) => term === own.terms?.[i]);
  return { nodeSelector, terms: same ? undefined : narrowed };
}

function narrowedTerm(
  own: Term,
  demanded: readonly Term[],
  nodeOf: (name: string) => NodeInfo | undefined,
): Term | Unsayable {
  // Matches no Node, and has to stay as it is.
  if (sizeOf(own) === 0) return own;
  if (demanded.some((term) => sizeOf(both(own, term)) === sizeOf(own))) return own;
  const [only] = demanded;
  if (only !== undefined && demanded.length === 1) return both(own, only);
  // As the pods of a DaemonSet: which of the terms holds there is known.
  const name = nodeNamed(own);
  const node = name === undefined ? undefined : nodeOf(name);
  const there = node && demanded.find((term) => matches(term, node));
  if (there !== undefined) return both(own, there);
  if (node !== undefined) return { problem: `it is meant for node ${name}, which the volume is not on` };
  return {
    problem: `the volume's node affinity has ${demanded.length} terms, which cannot be combined with the pod's own: write one of them into each term of the pod, or replace the pod's affinity with a nodeSelector`,
  };
}

function nodeNamed({ matchFields }: Term): string | undefined {
  const names = matchFields.flatMap((field) => {
    const { key, operator, values } = field as { key?: unknown; operator?: unknown; values?: unknown };
    return key === "metadata.name" && operator === "In" && Array.isArray(values) ? [values] : [];
  });
  const [first] = names;
  return first?.length === 1 && typeof first[0] === "string" ? first[0] : undefined;
}

function matches(term: Term, node: NodeInfo): boolean {
  const nodeSelectorTerms = [term as unknown as NodeSelectorTerm];
  const nodeAffinity = { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } };
  return matchesSelector({ affinity: { nodeAffinity } }, node);
}

/** Both terms at once: the first as it stands, and what the second asks for beside it. */
function both(a: Term, b: Term): Term {
  return {
    matchExpressions: [...a.matchExpressions, ...missingIn(a.matchExpressions, b.matchExpressions)],
    matchFields: [...a.matchFields, ...missingIn(a.matchFields, b.matchFields)],
  };
}

function missingIn(there: readonly unknown[], asked: readonly unknown[]): unknown[] {
  const known = new Set(there.map(canonicalJson));
  return asked.filter((one) => !known.has(canonicalJson(one)));
}

function unique<T>(items: readonly T[]): T[] {
  return [...new Map(items.map((item) => [canonicalJson(item), item])).values()];
}

function sizeOf({ matchExpressions, matchFields }: Term): number {
  return matchExpressions.length + matchFields.length;
}
