/** One comment of a TypeScript file: its text with the markers, and where it is. */
export interface FoundComment {
  readonly kind: "line" | "block";
  /** Offset of the first character. */
  readonly start: number;
  /** Offset after the last character; the line break after a `//` comment is no part of it. */
  readonly end: number;
}

/** Widest line that may hold a comment, in columns. */
const widestComment = 120;

/** A word after which `/` begins a regular expression and does not divide. */
const beforeExpression = /\b(return|typeof|case|in|of|do|else|void|delete|throw|new|await|yield|instanceof)\s*$/;

/**
 * PURE. The comments of a file in order. Strings, templates and regular expressions that look like comments are none.
 */
export function commentsOf(text: string): FoundComment[] {
  const found: FoundComment[] = [];
  /** Open braces: `true` for one that a template's `${` opened. */
  const braces: boolean[] = [];
  let code = "";
  let at = 0;
  const skip = (pattern: RegExp): void => {
    pattern.lastIndex = at;
    at += pattern.exec(text)?.[0].length ?? 1;
  };
  const template = (): void => {
    skip(/[`}](?:\\[\s\S]|\$(?!\{)|[^\\`$])*(?:`|\$\{)?/y);
    const opens = text[at - 1] === "{";
    if (opens) braces.push(true);
    code = opens ? "{" : ")";
  };
  while (at < text.length) {
    const start = at;
    const char = text[at] ?? "";
    if (text.startsWith("//", at)) {
      skip(/.*/y);
      found.push({ kind: "line", start, end: at });
    } else if (text.startsWith("/*", at)) {
      skip(/\/\*[\s\S]*?(?:\*\/|$(?![\s\S]))/y);
      found.push({ kind: "block", start, end: at });
    } else if (char === '"' || char === "'") {
      skip(/(["'])(?:\\[\s\S]|(?!\1)[^\\\n])*\1?/y);
      code = ")";
    } else if (char === "`" || (char === "}" && braces.at(-1) === true)) {
      if (char === "}") braces.pop();
      template();
    } else if (char === "/" && beginsExpression(code)) {
      skip(/\/(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\[\n])+\/\w*/y);
      code = ")";
    } else {
      if (char === "{") braces.push(false);
      if (char === "}") braces.pop();
      code = /\s/.test(char) ? `${code.trimEnd()} ` : `${code}${char}`.slice(-12);
      at += 1;
    }
  }
  return found;
}

/**
 * PURE. Lines of a file that are wider than `widestComment` and hold a comment, as `path:line: …`. A line whose only
 * word is too long to break, such as an address, may be.
 */
export function wideComments(path: string, text: string): string[] {
  const lines = text.split("\n");
  if (!lines.some(isWide)) return [];
  const wide = new Set<number>();
  let line = 0;
  let passed = 0;
  for (const { start, end } of commentsOf(text)) {
    line += newlines(text, passed, start);
    passed = start;
    const last = line + newlines(text, start, end);
    for (let of = line; of <= last; of += 1) if (isWide(lines[of] ?? "")) wide.add(of);
  }
  return [...wide].map((of) => {
    const width = lines[of]?.length ?? 0;
    return `${path}:${of + 1}: a comment ${width} columns wide; wrap it at ${widestComment}`;
  });
}

/** Whether a `/` after this code begins a regular expression. */
function beginsExpression(code: string): boolean {
  return beforeExpression.test(code) || !/[\w$)\]]\s*$/.test(code);
}

/** Whether a line is too wide, and has a blank at which it can be broken. */
function isWide(line: string): boolean {
  const words = line.replace(/^\s*(\/\/|\/\*+|\*)\s*(-\s|\d+\.\s)?/, "").replace(/\s*\*\/$/, "");
  return line.length > widestComment && /\S\s+\S/.test(words);
}

function newlines(text: string, from: number, to: number): number {
  let count = 0;
  for (let at = text.indexOf("\n", from); at !== -1 && at < to; at = text.indexOf("\n", at + 1)) count += 1;
  return count;
}
