/**
 * PURE. Names for people: the first ones, and how many more there are.
 * @param isAll false: nobody has looked for more of them
 */
export function listed(all: readonly string[], most: number, isAll = true, separator = ", "): string {
  const few = all.slice(0, most).join(separator);
  const more = all.length - most;
  return more > 0 ? `${few} and ${isAll ? "" : "at least "}${more} more` : few;
}

/** PURE. A number with its noun: `1 volume`, `2 volumes`. */
export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}
