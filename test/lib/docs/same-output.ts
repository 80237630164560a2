/**
 * PURE. A text in which what is another each time is not told apart: times, lengths of time and of columns, hashes and
 * ids.
 */
export function comparable(text: string): string {
  return text
    .replace(/[ \n]+/g, " ") // first: a line may end within what the next ones look for
    .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "TIME")
    .replace(/\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/g, "UID")
    .replace(/(?<=[a-z0-9.]-)(?:[0-9a-f]{32}|[0-9a-f]{10})\b/g, "HASH")
    .replace(/\b\d+:\d+(?=@[0-9a-f]{16}\b)/g, "MAJOR:MINOR")
    .replace(/\bloop\d+/g, "loopN")
    .replace(/\b(?:\d+(?:\.\d+)?(?:d|h|ms|m|s))+\b/g, "T")
    .replace(/ \d+ attempts?,/g, "")
    .replace(/next attempt (?:is due|in T)\b/g, "next attempt")
    .replace(/(?<![\w-])(pid|kill|-t) \d+/g, "$1 N")
    .replace(/(?<=\b127\.0\.0\.1[: ])\d+\b/g, "PORT")
    .replace(/\b0\.\d+\.\d+\b/g, "VERSION")
    .replace(/-{2,}/g, "--")
    .trim();
}
