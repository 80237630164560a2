/** A rule of schema.gen.ts: one of the CRDs' x-kubernetes-validations (hack/lib/generate-rules.ts). */
export interface Rule {
  readonly message: string;
  /** Path of the field that is to blame, beneath the node that carries the rule. */
  readonly field?: string;
  /** The whole rule, where it is one of these forms: a pattern, a list of values, a range. */
  readonly matches?: string;
  readonly oneOf?: readonly string[];
  readonly from?: number;
  readonly to?: number;
  /** The regular expressions in a rule of another form, in order, for the check of its message. */
  readonly patterns?: readonly string[];
}

/**
 * Whether `value` keeps a rule that its form alone does not say; `patterns` are the rule's. The value has the structure
 * that the schema asks for, with its defaults.
 */
export type Check<T = never> = (value: T, patterns: readonly RegExp[]) => boolean;

/** Checks by the beginning of the message of their rule. */
export type Checks = readonly (readonly [start: string, check: Check])[];

/** No text twice. */
export function unique(texts: readonly string[]): boolean {
  return new Set(texts).size === texts.length;
}

/** Whether `path` is a path under `parent`. */
export function isBeneath(path: string, parent: string): boolean {
  return path.startsWith(`${parent}/`);
}

/** Length in UTF-8. */
export function byteLength(text: string): number {
  if (isAscii(text)) return text.length;
  return new TextEncoder().encode(text).length;
}

function isAscii(text: string): boolean {
  for (let i = 0; i < text.length; i++) if (text.charCodeAt(i) > 0x7f) return false;
  return true;
}
