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

/**
 * PURE. What a shell hands to our plugin, of each of its command lines in what is typed: quotes taken off, up to a pipe
 * or redirection.
 */
export function nviArguments(typed: string): string[][] {
  const lines = typed.matchAll(/(?<![\w/-])kubectl[ -]nvi((?:[ \t]+(?:"[^"]*"|'[^']*'|[^\s|;&<>()"'`#]+))+)/g);
  return [...lines].map(([, rest = ""]) =>
    [...rest.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map(
      ([, double, single, plain]) => double ?? single ?? plain ?? "",
    ),
  );
}
