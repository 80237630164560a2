import type { SecretReference } from "../../api/types.gen.ts";
import { VolumeError } from "../../errors.ts";

const mostAuthorities = 256 * 1024;

/** What a value has to look like, and how people are told. */
export interface Shape {
  readonly pattern: RegExp;
  readonly is: string;
}

/**
 * PURE. A value of one line, without the end that an editor gives it; undefined if it is not there.
 * @throws VolumeError KeyNotFound
 */
export function lineOf(
  values: ReadonlyMap<string, string>,
  key: string,
  { pattern, is }: Shape,
  secret: SecretReference,
): string | undefined {
  const value = values.get(key)?.replace(/\r?\n$/, "");
  if (value === undefined || pattern.test(value)) return value;
  throw keyProblem(secret, key, `must be ${is}`);
}

/** PURE. Certificates of authorities, of the key that Secrets of TLS have them in. @throws VolumeError KeyNotFound */
export function authoritiesIn(
  values: ReadonlyMap<string, string>,
  secret: SecretReference,
): { readonly authorities?: string } {
  const authorities = values.get("ca.crt");
  if (authorities === undefined) return {};
  if (/-----BEGIN (TRUSTED )?CERTIFICATE-----/.test(authorities) && authorities.length <= mostAuthorities)
    return { authorities };
  throw keyProblem(secret, "ca.crt", "must be certificates as PEM");
}

/** What is wrong with a key, and never what is in it. */
export function keyProblem({ namespace, name }: SecretReference, key: string, problem: string): VolumeError {
  const on = { kind: "Secret", namespace, name };
  return new VolumeError("KeyNotFound", "final", `the key ${key} of Secret ${namespace}/${name} ${problem}`, { on });
}
