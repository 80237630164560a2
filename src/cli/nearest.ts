/** PURE. The word that `typed` was most likely meant to be; undefined if none is near. */
export function nearest(typed: string, words: readonly string[]): string | undefined {
  const at = typed.toLowerCase();
  const ranked = words
    .map((word) => ({ word, distance: word.startsWith(at) && at.length > 1 ? 1 : distance(at, word.toLowerCase()) }))
    .sort((a, b) => a.distance - b.distance);
  const [best] = ranked;
  if (best === undefined || best.distance > Math.max(1, Math.floor(typed.length / 3))) return undefined;
  return best.word;
}

/** PURE. `; did you mean X?`, or nothing. */
export function didYouMean(typed: string, words: readonly string[]): string {
  const word = nearest(typed, words);
  return word === undefined ? "" : `; did you mean ${word}?`;
}

/** Letters to add, take away, change or exchange with the next one (optimal string alignment). */
function distance(a: string, b: string): number {
  const rows: number[][] = [Array.from({ length: b.length + 1 }, (_, j) => j)];
  const cell = (i: number, j: number) => rows[i]?.[j] ?? Number.POSITIVE_INFINITY;
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    rows.push(row);
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1] ? 0 : 1;
      const swapped =
        a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1] ? cell(i - 2, j - 2) + 1 : Number.POSITIVE_INFINITY;
      row.push(Math.min(cell(i - 1, j) + 1, cell(i, j - 1) + 1, cell(i - 1, j - 1) + same, swapped));
    }
  }
  return cell(a.length, b.length);
}
