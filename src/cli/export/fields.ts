/**
 * PURE. A field of a line whose characters are bytes, as text: both files escape a byte as three octal digits. Bytes
 * that are not UTF-8 become U+FFFD, see notUtf8.
 */
export function decoded(field: string): string {
  // As in libmount, \777 is stored in a byte.
  const bytes = field.replace(/\\([0-7]{3})/g, (_, octal: string) =>
    String.fromCharCode(Number.parseInt(octal, 8) & 0xff),
  );
  return Buffer.from(bytes, "latin1").toString("utf8");
}

/** PURE. Whether bytes of the texts were lost: a set could not name the same file. */
export function notUtf8(...texts: readonly string[]): boolean {
  return texts.some((text) => text.includes("\ufffd"));
}

/** PURE. A path as the kernel resolves it: without repeated slashes or one at the end. */
export function tidy(path: string): string {
  return path.startsWith("/") ? path.replace(/\/+/g, "/").replace(/(.)\/$/, "$1") : path;
}

/**
 * PURE. Options separated by commas, except in double quotes or behind a backslash (libmount's ul_optstr_next).
 * @returns undefined if a quote is not closed
 */
export function splitOptions(text: string): string[] | undefined {
  const options = [""];
  let isQuoted = false;
  let before = "";
  for (const character of text) {
    if (character === '"' && before !== "\\") isQuoted = !isQuoted;
    if (character === "," && before !== "\\" && !isQuoted) options.push("");
    else options.push(`${options.pop()}${character}`);
    before = character;
  }
  return isQuoted ? undefined : options.filter((option) => option !== "");
}
