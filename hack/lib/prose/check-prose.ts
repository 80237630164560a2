// The lint of documentation: sentences that a reader need not read twice, words that a reader would search for, lines
// that fit a screen.
import { hiddenSubjectOf, privateWordsIn } from "./private-words.ts";

/** Words that a sentence may have. */
const sentenceWords = 30;
/** A test as tables cite it: `test/…` *title*, and further ones. */
const citedTests = /`test\/[^`]+` \*[^*]+\*(?:<br>`test\/[^`]+` \*[^*]+\*)*/g;
/** Columns that a line may have, and each line (`<br>`) of a cell of a table as it is shown. */
const lineColumns = 160;

/**
 * PURE. What is wrong with a page of Markdown, as `page:line: what`.
 * - A private word, in tables and headings, too (`private-words.ts`).
 * - A sentence that hides its subject, or has more than 30 words, outside of tables and headings. What stands in code
 *   quotes is one word, and so is a list of it; a link is its text.
 * - A line of more than 160 columns. Exempt is what cannot be broken: a console's output, a comment for the tests, and
 *   a row of a table none of whose cells has a line (`<br>`) longer than that as it is shown (without the targets of
 *   links). - In a table, a cited test (its file, then its title) is one word, as code is: the title is the test's own.
 */
export function checkProse(page: string, text: string): string[] {
  const faults: string[] = [];
  let fence: string | undefined;
  let paragraph: { readonly line: number; text: string } | undefined;
  const end = () => {
    if (paragraph !== undefined)
      for (const sentence of sentencesOf(shown(paragraph.text))) checkSentence(paragraph.line, sentence);
    paragraph = undefined;
  };
  const report = (line: number, found: readonly string[], within: string) =>
    faults.push(...found.map((one) => `${page}:${line}: ${one}, in: ${start(within)}`));
  const checkSentence = (line: number, sentence: string) => {
    const count = sentence.split(/\s+/).filter((one) => /[\p{L}\p{N}]/u.test(one)).length;
    if (count > sentenceWords) faults.push(`${page}:${line}: a sentence of ${count} words: ${start(sentence)}`);
    report(line, [...privateWordsIn(sentence), ...hiddenSubjectOf(sentence)], sentence);
  };
  const checkColumns = (line: number, shape: string) => {
    const columns = [...shape].length;
    if (columns > lineColumns) faults.push(`${page}:${line}: ${columns} columns: ${start(shape.trim())}`);
  };
  for (const [index, one] of text.split("\n").entries()) {
    const line = index + 1;
    const [, opens] = /^ *```(\S*)$/.exec(one) ?? [];
    if (opens !== undefined) {
      end();
      fence = fence === undefined ? opens : undefined;
    } else if (fence !== undefined) {
      if (fence !== "console") checkColumns(line, one);
    } else if (/^ *<!--.*-->$/.test(one) || one.trim() === "") {
      end();
    } else if (/^ *\|/.test(one)) {
      end();
      for (const cell of cellsOf(one.replace(citedTests, "CODE"))) {
        for (const part of withoutTargets(cell).split("<br>")) checkColumns(line, part);
        report(line, privateWordsIn(shown(cell)), shown(cell));
      }
    } else if (/^#+ /.test(one)) {
      end();
      checkColumns(line, one);
      report(line, privateWordsIn(shown(one)), shown(one));
    } else {
      checkColumns(line, one);
      const [, mark, rest = ""] = /^ *([-*]|\d+\.) +(.*)$/.exec(one) ?? [];
      if (mark !== undefined) end();
      if (paragraph === undefined) paragraph = { line, text: mark === undefined ? one : rest };
      else paragraph.text += ` ${one.trim()}`;
    }
  }
  end();
  return faults;
}

/** PURE. Sentences of prose without code. */
export function sentencesOf(prose: string): string[] {
  return prose
    .split(/(?<=[.?!]["')*_]*)(?<!\b(?:e\.g|i\.e|etc|vs)\.)\s+/u)
    .map((sentence) => sentence.replace(/^["'(*_\s]+|["')*_\s]+$/g, ""))
    .filter((sentence) => sentence !== "");
}

/** As a page shows it: a link is its text, and quoted code, or a list of it, is one word that ends no sentence. */
function shown(markdown: string): string {
  const quoted = markdown.replace(/`[^`]*`/g, "CODE").replace(/CODE(?:(?:, ?|\/)CODE)+/g, "CODE");
  return withoutTargets(quoted)
    .replaceAll("<br>", " ")
    .replace(/<[^>]+>/g, "");
}

function withoutTargets(markdown: string): string {
  return markdown.replace(/!?\[([^\]]*)\]\([^)]*\)/g, "$1");
}

function cellsOf(row: string): string[] {
  const inner = row.trim().replace(/^\|/, "").replace(/\|$/, "");
  return inner.split(/(?<!\\)\|/).map((cell) => cell.trim());
}

function start(text: string): string {
  return text.length > 90 ? `${text.slice(0, 90)}…` : text;
}
