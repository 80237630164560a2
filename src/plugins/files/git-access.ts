import type { SecretReference } from "../../api/types.gen.ts";
import type { RepositoryAccess } from "../../host/ports/repositories.ts";
import { authoritiesIn, keyProblem, lineOf } from "./secret-keys.ts";

const password = { pattern: /^[^\p{Cc}]{1,1024}$/u, is: "one line of at most 1024 characters" };
const username = { pattern: /^[^\p{Cc}:]{1,256}$/u, is: "one line of at most 256 characters without a colon" };
const token = { pattern: /^[\x21-\x7e]{1,8192}$/, is: "one word of at most 8192 characters" };
const most = 64 * 1024;

/**
 * PURE. What the keys of a Secret let the node do at a repository: those of kubernetes.io/basic-auth, or bearerToken,
 * with ca.crt, by https; those of kubernetes.io/ssh-auth, with known_hosts, by ssh.
 * @throws VolumeError KeyNotFound, which says which key is missing or not to be used, and never what is in it
 */
export function repositoryAccess(
  repository: string,
  values: ReadonlyMap<string, string>,
  secret: SecretReference,
): RepositoryAccess {
  if (repository.startsWith("ssh:")) {
    const [key, knownHosts] = ["ssh-privatekey", "known_hosts"].map((name) => {
      const value = values.get(name) ?? "";
      if (value.trim() !== "" && value.length <= most && !value.includes("\0")) return value;
      throw keyProblem(secret, name, `is needed for ssh, with at most ${most} characters`);
    });
    return { ssh: { key: key ?? "", knownHosts: knownHosts ?? "" } };
  }
  const authorities = authoritiesIn(values, secret);
  const bearer = lineOf(values, "bearerToken", token, secret);
  const [name, word] = [lineOf(values, "username", username, secret), lineOf(values, "password", password, secret)];
  if (bearer !== undefined) return { ...authorities, authorization: `Bearer ${bearer}` };
  if (name !== undefined && word !== undefined) {
    return { ...authorities, authorization: `Basic ${Buffer.from(`${name}:${word}`).toString("base64")}` };
  }
  if (name === undefined && word === undefined && authorities.authorities !== undefined) return authorities;
  const missing = name === undefined ? "username" : "password";
  throw keyProblem(secret, missing, "is needed (a token is a password), or bearerToken, or ca.crt alone");
}
