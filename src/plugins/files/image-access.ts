import type { SecretReference } from "../../api/types.gen.ts";
import type { RegistryAccess } from "../../host/ports/images.ts";
import { authoritiesIn, keyProblem } from "./secret-keys.ts";

const key = ".dockerconfigjson";

/** Names by which Docker's own registry is known in such a file. */
const dockerHosts = ["docker.io", "index.docker.io", "registry-1.docker.io"];

/**
 * PURE. What a Secret lets the node do at the registry of an image: that of kubernetes.io/dockerconfigjson, with
 * ca.crt. Of its entries the one counts whose address is that of the image, or the beginning of it, at the end of a
 * name; the longest, as with kubelet. `*` stands for a part of a host name.
 * @throws VolumeError KeyNotFound, which says what is missing or not to be used, and never what is in it
 */
export function registryAccess(
  reference: string,
  values: ReadonlyMap<string, string>,
  secret: SecretReference,
): RegistryAccess {
  const authorities = authoritiesIn(values, secret);
  const text = values.get(key);
  if (text === undefined) {
    if (authorities.authorities !== undefined) return authorities;
    throw keyProblem(secret, key, "is needed, as Secrets of kubernetes.io/dockerconfigjson have it, or ca.crt alone");
  }
  const { auths } = objectOf(parsed(text));
  if (typeof auths !== "object" || auths === null) throw keyProblem(secret, key, "must be JSON with auths");
  const image = reference.replace(/(:[^:@/]*)?@.*$/, "");
  const [entry] = Object.entries(auths)
    .map(([address, value]) => ({ length: isFor(address, image), value: objectOf(value) }))
    .filter(({ length }) => length > 0)
    .sort((a, b) => b.length - a.length);
  if (entry === undefined) throw keyProblem(secret, key, `has no entry for ${image.split("/")[0]}`);
  const authorization = authorizationOf(entry.value);
  if (authorization !== undefined) return { ...authorities, authorization };
  throw keyProblem(
    secret,
    key,
    `has for ${image.split("/")[0]} neither auth, nor username and password, nor registrytoken`,
  );
}

/** @returns the length of an address that is the image's, or where that begins; 0 if it is another's */
function isFor(address: string, image: string): number {
  const [host = "", ...path] = address
    .replace(/^https?:\/\//, "")
    .replace(/\/(v[12]\/?)?$/, "")
    .split("/");
  const [registry = "", ...repository] = image.split("/");
  const known = dockerHosts.includes(host) && registry === "docker.io";
  if (!known && !matches(host, registry)) return 0;
  return path.every((name, index) => name === repository[index]) ? 1 + path.length : 0;
}

function matches(pattern: string, host: string): boolean {
  const [wanted, given] = [pattern.split("."), host.split(".")];
  return wanted.length === given.length && wanted.every((part, index) => part === "*" || part === given[index]);
}

function authorizationOf({ auth, username, password, registrytoken }: Members): string | undefined {
  if (typeof registrytoken === "string" && /^[\x21-\x7e]+$/.test(registrytoken)) return `Bearer ${registrytoken}`;
  const pair =
    typeof auth === "string" && auth !== ""
      ? Buffer.from(auth, "base64").toString("utf8")
      : `${username ?? ""}:${password ?? ""}`;
  return /^[^:]+:./s.test(pair) ? `Basic ${Buffer.from(pair).toString("base64")}` : undefined;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // no object, so nothing that is asked for
  }
}

type Members = { readonly [name: string]: unknown };

function objectOf(value: unknown): Members {
  return typeof value === "object" && value !== null ? (value as Members) : {};
}
