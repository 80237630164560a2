/** Characters of a failed program's words that a message has. */
const most = 512;

/**
 * PURE. What a program said of its failure: whole lines from the beginning and from the end, as the cause stands first
 * (mkfs.xfs, an error of Node.js) or last. How it is called (`Usage: …`, up to the next blank line) is left out.
 */
export function outputExcerpt(text: string): string {
  const said = text.trim();
  const cause = said.replace(/^usage:.*(?:\n.*\S.*)*/gim, "").trim();
  const words = cause === "" ? said : cause;
  if (words.length <= most) return words;
  const lines = words.split("\n");
  const first = upTo(most / 2, lines);
  const last = upTo(most - length(first), lines.slice(first.length).reverse()).reverse();
  return first.length + last.length === 0 ? words.slice(-most) : [...first, "…", ...last].join("\n");
}

/** The lines that come first, as many as fit. */
function upTo(room: number, lines: readonly string[]): string[] {
  let left = room;
  const end = lines.findIndex((line) => {
    left -= line.length + 1;
    return left < 0;
  });
  return lines.slice(0, end === -1 ? lines.length : end);
}

function length(lines: readonly string[]): number {
  return lines.join("\n").length;
}
