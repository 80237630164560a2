/** As metav1.LabelSelector. */
export interface LabelSelector {
  readonly matchLabels?: { readonly [label: string]: string };
  readonly matchExpressions?: readonly LabelRequirement[];
}

/** metav1 LabelSelectorRequirement. */
interface LabelRequirement {
  readonly key: string;
  readonly operator: "In" | "NotIn" | "Exists" | "DoesNotExist";
  readonly values?: readonly string[];
}

/** As a query parameter takes it (apimachinery's labels.Parse); "" selects all. */
export function selectorText({ matchLabels = {}, matchExpressions = [] }: LabelSelector): string {
  const labels = Object.entries(matchLabels).map(([key, value]) => `${key}=${value}`);
  const expressions = matchExpressions.map(({ key, operator, values = [] }) => {
    if (operator === "Exists") return key;
    if (operator === "DoesNotExist") return `!${key}`;
    return `${key} ${operator === "In" ? "in" : "notin"} (${values.join(",")})`;
  });
  return [...labels, ...expressions].join(",");
}
