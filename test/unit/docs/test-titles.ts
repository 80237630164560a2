/**
 * Whether a test file has a test of this title, by its source: as the text of an `it`, as the text of a table's entry
 * that an `it` takes its title from, or as a template of which every part that is filled in stands in the file or is
 * `known`, or as that of a point of the plugin contract. The title may begin with that of the `describe` around it.
 */
export function hasTitle(source: string, title: string, known: (part: string) => boolean = () => false): boolean {
  const suites = titlesOf(source, "describe").flatMap(({ text }) => text ?? []);
  const tests = [...titlesOf(source, "it"), ...points(source)];
  return ["", ...suites.map((suite) => `${suite} `)].some((suite) => {
    if (!title.startsWith(suite)) return false;
    const rest = title.slice(suite.length);
    return tests.some(({ text }) => (text === undefined ? isEntry(rest) : fits(text, rest)));
  });

  function isEntry(rest: string): boolean {
    return rest !== "" && isWritten(source, rest) && !suites.includes(rest);
  }

  function fits(template: string, rest: string): boolean {
    const match = patternOf(template).exec(rest);
    if (match === null) return false;
    return match.slice(1).every((part) => isWritten(source, part) || known(part));
  }
}

/** What test/contract makes a test of for each plugin. */
function points(source: string): { readonly text?: string }[] {
  return [...source.matchAll(/: Point = \{[^}]*?\btitle: "([^"]*)"/g)].map(([, text = ""]) => ({ text }));
}

/**
 * What stands in calls of `it` (also as `slow` or `test`, which is one of the two) or `describe` as the title: a text
 * or template, or a name if `text` is missing.
 */
function titlesOf(source: string, call: "it" | "describe"): { readonly text?: string }[] {
  const called = call === "it" ? "(?:it|slow|slowInGate|(?<!\\.)test)" : "(?:describe|slowSuite)";
  const calls = new RegExp(`\\b${called}\\(\\s*(?:"((?:[^"\\\\]|\\\\.)*)"|\`((?:[^\`\\\\]|\\\\.)*)\`|\\w+\\s*,)`, "g");
  return [...source.matchAll(calls)].map(([, plain, template]) => {
    const text = plain ?? template;
    return text === undefined ? {} : { text: text.replace(/\\(["`])/g, "$1") };
  });
}

/** A template as a pattern with a group for each part that is filled in. */
function patternOf(template: string): RegExp {
  const fixed = template.split(/\$\{[^}]*\}/).map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  return new RegExp(`^${fixed.join("(.+)")}$`);
}

/** Whether the file has exactly this as a text. */
function isWritten(source: string, text: string): boolean {
  return [`"${text}"`, `\`${text}\``, `'${text}'`].some((written) => source.includes(written));
}
