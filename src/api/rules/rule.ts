/**
 * A rule of schema.gen.ts (hack/lib/generate-rules.ts): one of the CRDs' x-kubernetes-validations, or of
 * crds/rules-in-code.yaml.
 */
export interface Rule {
  readonly message: string;
  /**
   * Its id, where its form does not say all of it: the name of its check, and the comment at the end of the CRD's rule.
   */
  readonly check?: string;
  /** Path of the field that is to blame, beneath the node that carries the rule. */
  readonly field?: string;
  /** The whole rule, where it is one of these forms: a pattern, one that must not match, a list of values, a range. */
  readonly matches?: string;
  readonly matchesNot?: string;
  readonly oneOf?: readonly string[];
  readonly from?: number;
  readonly to?: number;
  /** The regular expressions in a rule of another form, in order, for its check. */
  readonly patterns?: readonly string[];
}

/**
 * Whether `value` keeps a rule that its form alone does not say; `patterns` are the rule's. The value has the structure
 * that the schema asks for, with its defaults.
 */
export type Check<T = never> = (value: T, patterns: readonly RegExp[]) => boolean;

/** Checks by the id of their rule. */
export type Checks = { readonly [id: string]: Check };

/** A list with an entry. */
export function notEmpty(list: readonly unknown[]): boolean {
  return list.length > 0;
}

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
