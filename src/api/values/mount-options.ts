/**
 * PURE. Options of a file system or mount in the one order that all lists of the same meaning have: by name. Of an
 * option that is named twice the last one counts, as it does for mount(8). Nothing of what the list means is lost: no
 * option that the schema allows changes another, but NFS' actimeo, which overrides those of its group before it.
 */
export function canonicalOptions<O extends string>(options: readonly O[]): O[] {
  const byName = new Map<string, O>();
  for (const option of options) {
    const name = optionName(option);
    if (name === "actimeo") for (const overridden of attributeCache) byName.delete(overridden);
    byName.set(name, option);
  }
  // First: what it leaves open may be set after it.
  const rank = (option: O) => (optionName(option) === "actimeo" ? "" : option);
  return [...byName.values()].sort((a, b) => (rank(a) < rank(b) ? -1 : rank(a) > rank(b) ? 1 : 0));
}

/** `commit` of `commit=5`. */
export function optionName(option: string): string {
  return option.split("=", 1)[0] ?? option;
}

const attributeCache = ["acregmin", "acregmax", "acdirmin", "acdirmax"]; // nfs(5)
