import type { AllowedNamespaces, NamespaceRequirement, NodeVolumeIntentSpec } from "../types.gen.ts";
import type { Check, Checks } from "./rule.ts";

const namesOrSelector: Check<AllowedNamespaces> = ({ names, selector }) =>
  names !== undefined || selector !== undefined;

const valuesFitOperator: Check<NamespaceRequirement> = ({ operator, values = [] }) =>
  (operator === "In" || operator === "NotIn") === values.length > 0;

const observedIsNotManaged: Check<NodeVolumeIntentSpec> = ({ mode, observed }) =>
  mode === "Observe" || observed === undefined;

/** Rules of which pods may use a volume, and of volumes that kubelet manages for them. */
export const podRules: Checks = {
  namesOrSelector,
  valuesFitOperator,
  observedIsNotManaged,
};
