/** What most texts have none of. */
const high = /[\ud800-\udbff]/;

/**
 * PURE. How many characters a text has, as JSON schema and the API server count them: one of two UTF-16 units is one.
 */
export function codePoints(text: string): number {
  let count = text.length;
  if (!high.test(text)) return count;
  for (let at = 0; at < text.length; at += 1) if (isHigh(text, at) && isLow(text, at + 1)) count -= 1;
  return count;
}

function isHigh(text: string, at: number): boolean {
  return (text.charCodeAt(at) & 0xfc00) === 0xd800;
}

function isLow(text: string, at: number): boolean {
  return (text.charCodeAt(at) & 0xfc00) === 0xdc00;
}
