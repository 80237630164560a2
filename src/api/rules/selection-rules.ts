import type { NodeSelectorRequirement, NodeSelectorTerm, Toleration } from "../types.gen.ts";
import type { Check, Checks } from "./rule.ts";

const labelNames: Check<{ readonly [label: string]: string }> = (labels, [pattern]) =>
  Object.keys(labels).every((name) => name.length <= 317 && pattern?.test(name) === true);

const termSelects: Check<NodeSelectorTerm> = ({ matchExpressions, matchFields }) =>
  (matchExpressions ?? []).length + (matchFields ?? []).length > 0;

const hasOperator =
  (...operators: readonly NodeSelectorRequirement["operator"][]) =>
  ({ operator }: NodeSelectorRequirement) =>
    operators.includes(operator);
const comparesValues = hasOperator("In", "NotIn");
const asksForLabel = hasOperator("Exists", "DoesNotExist");
const comparesNumber = hasOperator("Gt", "Lt");

const namesValues: Check<NodeSelectorRequirement> = (r) => !comparesValues(r) || (r.values ?? []).length > 0;

const namesLabelValues: Check<NodeSelectorRequirement> = (r, [pattern]) =>
  !comparesValues(r) || (r.values ?? []).every((value) => pattern?.test(value) === true);

const namesNoValues: Check<NodeSelectorRequirement> = (r) => !asksForLabel(r) || (r.values ?? []).length === 0;

const namesOneInteger: Check<NodeSelectorRequirement> = (r, [pattern]) => {
  const [value, ...more] = r.values ?? [];
  return !comparesNumber(r) || (value !== undefined && more.length === 0 && pattern?.test(value) === true);
};

const toleratesTaint: Check<Toleration> = ({ key, operator }) => key !== undefined || operator === "Exists";

const existsHasNoValue: Check<Toleration> = ({ operator, value }) => operator !== "Exists" || (value ?? "") === "";

const count: Check<number | string> = (value, [pattern]) =>
  typeof value === "number" ? value >= 1 : pattern?.test(value) === true;

/** Rules of what selects the nodes of a set, and of how many of them change at once. */
export const selectionRules: Checks = {
  labelNames,
  termSelects,
  namesValues,
  namesLabelValues,
  namesNoValues,
  namesOneInteger,
  toleratesTaint,
  existsHasNoValue,
  count,
};
