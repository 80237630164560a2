/** PURE. Commands of our plugin that a text names, each from `kubectl nvi` to where the command ends. */
export function nviCommands(text: string): string[][] {
  return [...text.matchAll(/kubectl[ -]nvi((?:[ ]+[^\s`|;&<>()"]+)*)/g)]
    .map(([, rest = ""]) => rest.trim().split(/ +/))
    .filter(([first = ""]) => /^[a-z]+[.,:]?$/.test(first))
    .map(([first = "", ...more]) => [first.replace(/[.,:]$/, ""), ...more]);
}

/** PURE. The long and short flags among words of a command line. */
export function flagsIn(words: readonly string[]): string[] {
  return words.flatMap((word) => /^(--?[a-z][a-z-]*)(=|[.,]?$)/.exec(word)?.[1] ?? []);
}
