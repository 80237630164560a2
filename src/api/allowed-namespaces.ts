import { matchesLabel } from "./match-node.ts";
import type { AllowedNamespaces } from "./types.gen.ts";

type Labels = { readonly [key: string]: string };

/**
 * Whether pods of a namespace may use a set's volume. None may if nothing is said, as the volume is the node's and not
 * the pods'. Pure.
 * @param labels of the Namespace; undefined if it is not known, and then only its name counts
 */
export function allowsNamespace(
  allowed: AllowedNamespaces | undefined,
  namespace: string,
  labels: Labels | undefined,
): boolean {
  if (allowed?.names?.includes(namespace) === true) return true;
  const selector = allowed?.selector;
  if (selector === undefined || labels === undefined) return false;
  const plain = Object.entries(selector.matchLabels ?? {}).map(([key, value]) => ({
    key,
    operator: "In" as const,
    values: [value],
  }));
  return [...plain, ...(selector.matchExpressions ?? [])].every((requirement) => matchesLabel(requirement, labels));
}
