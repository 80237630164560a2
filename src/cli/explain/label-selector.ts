import type { NamespaceRequirement, NamespaceSelector } from "../../api/types.gen.ts";

type Labels = { readonly [key: string]: string };

/** PURE. As metav1.LabelSelector: all of it must match; an empty one matches everything. */
export function matchesSelector(selector: NamespaceSelector, labels: Labels): boolean {
  const exact = Object.entries(selector.matchLabels ?? {}).every(([key, value]) => labels[key] === value);
  return exact && (selector.matchExpressions ?? []).every((requirement) => matches(requirement, labels));
}

function matches({ key, operator, values = [] }: NamespaceRequirement, labels: Labels): boolean {
  const has = Object.hasOwn(labels, key);
  const named = has && values.includes(labels[key] ?? "");
  switch (operator) {
    case "In":
      return named;
    case "NotIn":
      return !named;
    case "Exists":
      return has;
    case "DoesNotExist":
      return !has;
  }
}
