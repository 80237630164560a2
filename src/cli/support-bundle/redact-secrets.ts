/** What stands where something was that may be secret. */
export const redacted = "[redacted]";

const secretWord = "pass(?:word|wd|phrase)?|secret|token|(?:api|access|private)[-_]?key|credentials?";
/** What ends like that, as `dbPassword` and `AWS_SECRET_ACCESS_KEY`. The bound keeps a long word from costing much. */
const secretName = `[\\w.-]{0,60}(?:${secretWord})\\d*`;

/** What has the shape of a secret, and what is put in its place. */
const shapes: readonly (readonly [pattern: RegExp, instead: string])[] = [
  [/-----BEGIN [A-Z0-9 ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z0-9 ]*PRIVATE KEY-----|$)/g, redacted],
  // Tokens of the API server and of everybody else who uses JOSE: {" in base64 at the begin of both halves.
  [/\beyJ[\w-]{5,}\.eyJ[\w-]{5,}\.[\w-]*/g, redacted],
  [/\b(Bearer|Basic)\s+[\w.~+/=-]{6,}/gi, `$1 ${redacted}`],
  // A user alone is a name for ssh, and a token for a web server.
  [/\b((?:https?|ftps?|smb|cifs):\/\/)[^\s/@"']+@/gi, `$1${redacted}@`],
  [/\b(ssh:\/\/|git:\/\/)([^\s/@:"']+):[^\s/@"']+@/gi, `$1$2:${redacted}@`],
  // In JSON, and in JSON that is a string of other JSON.
  [new RegExp(`("${secretName}"\\s*:\\s*")(?:\\\\.|[^"\\\\])+`, "gi"), `$1${redacted}`],
  [new RegExp(`(\\\\"${secretName}\\\\"\\s*:\\s*\\\\")[^"\\\\]+`, "gi"), `$1${redacted}`],
  [new RegExp(`(?<![\\w.-])(${secretName}=)[^\\s"'&,;\\\\]+`, "gi"), `$1${redacted}`],
];

/**
 * PURE. `text` without what looks like a secret. The programs keep secrets out of what they say themselves
 * (src/api/values/redact.ts), as they know them; whoever gathers what others have written knows none, and goes by the
 * shape.
 */
export function redactSecrets(text: string): string {
  return shapes.reduce((swept, [pattern, instead]) => swept.replace(pattern, instead), text);
}
