import type { CheckOutRequest, RepositoryAccess } from "../../ports/repositories.ts";
import { sandboxUID } from "../child/confined.ts";
import { environment } from "./commands.ts";

const keyFile = "/secrets/key";
const knownHostsFile = "/secrets/known-hosts";
const authoritiesFile = "/secrets/authorities.pem";

/**
 * Nothing of the user's or the node's settings counts, nothing is asked, nothing is shared with another connection,
 * nobody is believed but who is known.
 */
const ssh = [
  ...["/usr/bin/ssh", "-F", "none"],
  ...[
    "BatchMode=yes",
    "StrictHostKeyChecking=yes",
    `UserKnownHostsFile=${knownHostsFile}`,
    "GlobalKnownHostsFile=none",
    "UpdateHostKeys=no",
    "CheckHostIP=no",
    `IdentityFile=${keyFile}`,
    "IdentitiesOnly=yes",
    "IdentityAgent=none",
    "PreferredAuthentications=publickey",
    "ClearAllForwardings=yes",
    "PermitLocalCommand=no",
    "ControlMaster=no",
    "ControlPath=none",
    "ConnectTimeout=60",
    "ServerAliveInterval=30",
    "ServerAliveCountMax=2",
    "LogLevel=ERROR",
  ].flatMap((option) => ["-o", option]),
].join(" ");

/** PURE. Files that the sandbox has in memory, by their paths there, for the user of the sandbox alone to read. */
export function secretFiles({ ssh, authorities }: RepositoryAccess = {}): ReadonlyMap<string, string> {
  const files = new Map<string, string>();
  if (authorities !== undefined) files.set(authoritiesFile, authorities);
  if (ssh === undefined) return files;
  files.set(keyFile, ssh.key.replace(/\n*$/, "\n")); // ssh takes no key whose last line does not end
  files.set(knownHostsFile, ssh.knownHosts);
  // ssh wants its user to have a name.
  return files.set("/etc/passwd", `sandbox:x:${sandboxUID}:${sandboxUID}::/nonexistent:/usr/sbin/nologin\n`);
}

/**
 * PURE. The environment of the one git command that speaks with the server. An environment is for root and for
 * processes of its own user to read, and of these none sees another's: each is in a pid namespace of its own, without
 * /proc.
 */
export function fetchEnvironment({ repository, access = {} }: Pick<CheckOutRequest, "repository" | "access">): {
  readonly [name: string]: string;
} {
  if (access.ssh !== undefined)
    return { ...environment, GIT_ALLOW_PROTOCOL: "ssh", GIT_SSH_COMMAND: ssh, GIT_SSH_VARIANT: "ssh" };
  const settings: [string, string][] = [];
  // For this address alone, and where it begins so: never for another that a server names.
  if (access.authorization !== undefined)
    settings.push([`http.${repository}.extraHeader`, `Authorization: ${access.authorization}`]);
  if (access.authorities !== undefined) settings.push(["http.sslCAInfo", authoritiesFile]);
  const pairs = settings.flatMap(([key, value], index) => [
    [`GIT_CONFIG_KEY_${index}`, key],
    [`GIT_CONFIG_VALUE_${index}`, value],
  ]);
  return { ...environment, GIT_CONFIG_COUNT: `${settings.length}`, ...Object.fromEntries(pairs) };
}

/** PURE. What may be in no message, however the server says it. */
export function secretsIn({ authorization, ssh }: RepositoryAccess = {}): readonly string[] {
  if (authorization === undefined) return ssh === undefined ? [] : [ssh.key];
  const value = authorization.replace(/^\S+ /, "");
  const [, password = ""] = /^Basic /.test(authorization)
    ? (/^[^:]*:(.*)$/s.exec(Buffer.from(value, "base64").toString("utf8")) ?? [])
    : [];
  return [value, password];
}
