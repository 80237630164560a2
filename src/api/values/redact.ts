/** What stands where a secret was. */
const mark = "[redacted]";
/** A secret this short is in any text by chance, and cannot be cut out of it. */
const shortest = 4;
/** A line of a longer secret that is shorter, such as a bracket, tells nothing of it. */
const shortestLine = 8;

/**
 * PURE. `text` without any of `secrets`: neither as they are, nor line by line, nor in the writings in which programs
 * repeat what they were given. If a secret too short to be cut out is in it, nothing of the text is left.
 */
export function redact(text: string, secrets: Iterable<string>): string {
  const needles = new Set<string>();
  for (const secret of secrets) for (const writing of writingsOf(secret)) needles.add(writing);
  const spans: { from: number; to: number }[] = [];
  for (const needle of needles) {
    for (let at = text.indexOf(needle); at >= 0; at = text.indexOf(needle, at + 1)) {
      if (needle.length < shortest) return mark;
      spans.push({ from: at, to: at + needle.length });
    }
  }
  return without(text, spans);
}

/** Overlapping secrets are redacted as one span: a rest of one next to another would reveal it. */
function without(text: string, spans: { from: number; to: number }[]): string {
  let out = "";
  let kept = 0;
  for (const { from, to } of spans.sort((a, b) => a.from - b.from)) {
    if (from > kept || (from === kept && kept === 0)) out += `${text.slice(kept, from)}${mark}`;
    kept = Math.max(kept, to);
  }
  return out + text.slice(kept);
}

/** As it is, each line of it, and what base64, a URL and a quoted string make of these. */
function writingsOf(secret: string): string[] {
  const lines = secret.split(/[\r\n]+/).map((line) => line.trim());
  const parts = new Set([secret, secret.trim(), ...lines.filter((line) => line.length >= shortestLine)]);
  parts.delete("");
  return [...parts].flatMap((part) => {
    if (part.length < shortest) return [part];
    const base64 = Buffer.from(part).toString("base64").replace(/=+$/, "");
    const inURL = base64.replaceAll("+", "-").replaceAll("/", "_");
    const quoted = JSON.stringify(part).slice(1, -1); // also Go's %q, but for rare control characters
    return [part, base64, inURL, encodeURIComponent(part.toWellFormed()), quoted];
  });
}
