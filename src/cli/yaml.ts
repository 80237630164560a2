/**
 * PURE. JSON as YAML 1.2, in the layout that kubectl has. A text is in double quotes, as JSON writes it, unless no
 * reader of YAML could take it for anything else.
 */
export function toYaml(value: unknown): string {
  return `${node(value, "").replace(/^\n/, "")}\n`;
}

type Fields = { readonly [key: string]: unknown };

/** What stands behind `key:`; a collection begins with a line break. */
function node(value: unknown, indent: string): string {
  if (Array.isArray(value)) {
    if (value.length === 0) return "[]";
    return value.map((item) => `\n${indent}- ${inItem(item, indent)}`).join("");
  }
  if (typeof value === "object" && value !== null) {
    const fields = Object.entries(value as Fields).filter(([, member]) => member !== undefined);
    if (fields.length === 0) return "{}";
    return fields.map(([key, member]) => `\n${indent}${scalar(key)}:${behindKey(member, indent)}`).join("");
  }
  return scalar(value);
}

/** Lists stand at the indent of their key. */
function behindKey(member: unknown, indent: string): string {
  const text = node(member, Array.isArray(member) ? indent : `${indent}  `);
  return text.startsWith("\n") ? text : ` ${text}`;
}

function inItem(item: unknown, indent: string): string {
  return node(item, `${indent}  `).trimStart();
}

const wordOfYaml = /^(y|yes|n|no|true|false|on|off|null|~|nan)$/i;
const plain = /^[A-Za-z/][\w./@-]*(?:[:=+][\w./@-]+)*(?: [\w./@(),-]+)*$/;

function scalar(value: unknown): string {
  if (typeof value !== "string") return JSON.stringify(value ?? null);
  return plain.test(value) && !wordOfYaml.test(value) ? value : JSON.stringify(value);
}
