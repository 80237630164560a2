import type { NodeSelectorRequirement, NodeSelectorTerm, Toleration } from "../types.gen.ts";
import type { Checks } from "./rule.ts";

const hasOperator =
  (...operators: readonly NodeSelectorRequirement["operator"][]) =>
  ({ operator }: NodeSelectorRequirement) =>
    operators.includes(operator);
const comparesValues = hasOperator("In", "NotIn");
const asksForLabel = hasOperator("Exists", "DoesNotExist");
const comparesNumber = hasOperator("Gt", "Lt");

/** Rules of what selects the nodes of a set, and of how many of them change at once. */
export const selectionRules: Checks = {
  labelNames: (labels: { readonly [label: string]: string }, [pattern]) =>
    Object.keys(labels).every((name) => name.length <= 317 && pattern?.test(name) === true),
  termSelects: ({ matchExpressions, matchFields }: NodeSelectorTerm) =>
    (matchExpressions ?? []).length + (matchFields ?? []).length > 0,
  namesValues: (r: NodeSelectorRequirement) => !comparesValues(r) || (r.values ?? []).length > 0,
  namesLabelValues: (r: NodeSelectorRequirement, [pattern]) =>
    !comparesValues(r) || (r.values ?? []).every((value) => pattern?.test(value) === true),
  namesNoValues: (r: NodeSelectorRequirement) => !asksForLabel(r) || (r.values ?? []).length === 0,
  namesOneInteger: (r: NodeSelectorRequirement, [pattern]) => {
    const [value, ...more] = r.values ?? [];
    return !comparesNumber(r) || (value !== undefined && more.length === 0 && pattern?.test(value) === true);
  },
  toleratesTaint: ({ key, operator }: Toleration) => key !== undefined || operator === "Exists",
  existsHasNoValue: ({ operator, value }: Toleration) => operator !== "Exists" || (value ?? "") === "",
  count: (value: number | string, [pattern]) =>
    typeof value === "number" ? value >= 1 : pattern?.test(value) === true,
};
