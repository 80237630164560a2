/**
 * PURE. metadata with managedFields as large as those of a real server: the name of each field that somebody has
 * written.
 */
export function managedBy<T extends object>(
  metadata: T,
  written: object,
): T & { readonly managedFields: readonly object[] } {
  const entry = (manager: string, fieldsV1: object, subresource?: string) => ({
    manager,
    operation: "Update",
    apiVersion: "v1",
    time: "2026-11-20T08:00:00Z",
    fieldsType: "FieldsV1",
    fieldsV1,
    ...(subresource !== undefined && { subresource }),
  });
  const { status, ...rest } = written as { status?: object };
  const managedFields = [
    ...(Object.keys(rest).length > 0 ? [entry("kube-controller-manager", fieldsOf(rest))] : []),
    ...(status === undefined ? [] : [entry("kubelet", fieldsOf({ status }), "status")]),
  ];
  return { ...metadata, managedFields };
}

/** Beneath it a real server's are longer still. */
const deepest = 4;

function fieldsOf(value: unknown, depth = 0): { [key: string]: object } {
  if (depth === deepest) return {};
  if (Array.isArray(value)) {
    return Object.fromEntries(value.map((item: unknown) => [keyOf(item), { ".": {}, ...fieldsOf(item, depth + 1) }]));
  }
  if (typeof value !== "object" || value === null) return {};
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [`f:${key}`, fieldsOf(inner, depth + 1)]));
}

/** As in a list-map, by the item's key; of any other by its value. */
function keyOf(item: unknown): string {
  const { type, name, uid } = (typeof item === "object" && item !== null ? item : {}) as { [key: string]: unknown };
  const [key, value] =
    [
      ["type", type],
      ["uid", uid],
      ["name", name],
    ].find(([, of]) => of !== undefined) ?? [];
  return key === undefined
    ? `v:${JSON.stringify(item).slice(0, 40)}`
    : `k:{${JSON.stringify(key)}:${JSON.stringify(value)}}`;
}
