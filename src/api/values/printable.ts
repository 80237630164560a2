/**
 * What a terminal or a reader could take for something else than text: control characters, line and paragraph
 * separators, and characters that turn the direction of writing.
 */
const unprintable = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

/** Most texts: nothing but what ASCII prints. */
const plain = /^[ -~]*$/;

/**
 * PURE. `text` on one line, whatever is in it: names of processes, files and mounts are chosen by whoever made them.
 */
export function printable(text: string): string {
  if (plain.test(text)) return text;
  return text.replace(unprintable, (character) => {
    const code = character.codePointAt(0) ?? 0;
    return code < 0x100 ? `\\x${code.toString(16).padStart(2, "0")}` : `\\u{${code.toString(16)}}`;
  });
}

/** PURE. A name as it is, or, if it has characters that could be taken for the sentence around it, in double quotes. */
export function quoted(name: string): string {
  return /^[\w/.@:+=%~#[\]-]+$/.test(name) ? name : JSON.stringify(name);
}

/**
 * PURE. One word of a shell command that is no option of it. Undefined if there is a character in it that nobody should
 * paste, or if a program would take it for an option: kubectl has some that lead to another server.
 */
export function shellWord(text: string): string | undefined {
  if (printable(text) !== text || text.startsWith("-")) return undefined;
  return /^[\w/.@:+=%-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
