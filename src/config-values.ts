/** Texts of flags and variables → values. Pure. Each throws ConfigError, which names the flag. */
import { reservedNodeNames } from "./api/names.ts";
import { FeatureGateError, type Features, featureGates, parseFeatureGates } from "./feature-gates.ts";

/** A flag or variable is missing or wrong; the message names it and what it should be. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
}

/** Some five times the two minutes after which kubelet tries again at the latest what has failed. */
const shortestGraceMs = 10 * 60_000;

/** The entries of a comma-separated list; empty ones are left out. */
export function split(list: string): string[] {
  return list.split(",").filter((entry) => entry !== "");
}

/** The allowed prefixes: at least one, and clean absolute paths. */
export function prefixes(list: readonly string[]): readonly string[] {
  if (list.length === 0) throw new ConfigError("--allowed-prefix needs at least one path");
  return Object.freeze(list.map((path) => absolute(path, "--allowed-prefix")));
}

/** What the agent keeps in its state directory: no volume is mounted there, and no source leads there. */
const ownState = ["data", "staging", "trash", "lock", "journal", "journal.reserve"];

/** Returns if no prefix of volumes reaches what the agent keeps in its state directory. */
export function apartFrom(allowedPrefixes: readonly string[], stateDir: string): void {
  const isIn = (path: string, directory: string) => `${path}/`.startsWith(`${directory}/`);
  const own = ownState.map((name) => `${stateDir}/${name}`);
  const wrong = allowedPrefixes.find((prefix) => isIn(stateDir, prefix) || own.some((path) => isIn(prefix, path)));
  if (wrong === undefined) return;
  throw new ConfigError(
    `--allowed-prefix: ${JSON.stringify(wrong)} has the agent's own state (--state-dir ${stateDir}) in it: name another folder, such as ${stateDir}/mounts`,
  );
}

/** A clean absolute path: no empty, `.` or `..` segments. */
export function absolute(path: string, flag: string): string {
  const segments = path.split("/").slice(1);
  const clean = path === "/" || segments.every((s) => s !== "" && s !== "." && s !== "..");
  if (!path.startsWith("/") || !clean) {
    throw new ConfigError(
      `${flag}: ${JSON.stringify(path)} must be an absolute path without '.', '..' or a trailing '/'`,
    );
  }
  if (path === "/" && flag === "--allowed-prefix")
    throw new ConfigError(`${flag}: / would allow every path of the node`);
  if (path === "/" && flag === "--kubelet-dir") throw new ConfigError(`${flag}: / is not kubelet's --root-dir`);
  return path;
}

/** "" is nothing, as a variable that a manifest leaves empty. */
export function optionalPath(path: string, flag: string): string | undefined {
  return path === "" ? undefined : absolute(path, flag);
}

/** One word, as a URL or a name. "" is none, as a variable that a manifest leaves empty. */
export function audience(text: string, flag: string): string | undefined {
  if (text === "") return undefined;
  if (/^[!-+\--~]{1,253}$/.test(text)) return text;
  throw new ConfigError(`${flag}: ${JSON.stringify(text)} must be one audience: no blanks or commas`);
}

/** The argument of --host-pid. */
export function processNumber(text: string): number {
  if (/^[1-9][0-9]{0,9}$/.test(text)) return Number(text);
  throw new ConfigError(`--host-pid: ${JSON.stringify(text)} is not the number of a process`);
}

/** HOST:PORT; the host is undefined if it is left out. */
export function address(text: string, flag: string): { readonly host: string | undefined; readonly port: number } {
  const match = /^(.*):(\d{1,5})$/.exec(text);
  const port = Number(match?.[2]);
  if (match === null || port > 65535) throw new ConfigError(`${flag}: ${JSON.stringify(text)} is not HOST:PORT`);
  return { host: match[1] === "" ? undefined : match[1]?.replace(/^\[|\]$/g, ""), port };
}

/** Of the page: who may forward a port of the pod may read it, and nobody else can reach it. "" is none. */
export function loopback(text: string): ReturnType<typeof address> | undefined {
  if (text === "") return undefined;
  const found = address(text, "--page-address");
  if (/^(localhost|127(\.\d{1,3}){3}|::1)$/.test(found.host ?? "")) return found;
  throw new ConfigError(
    `--page-address: ${JSON.stringify(text)} is not on loopback, as 127.0.0.1:9809; "" for no page. Reach it by kubectl port-forward.`,
  );
}

/** "true" or "false". */
export function truth(text: string, flag: string): boolean {
  return choice(["true", "false"])(text, flag) === "true";
}

/** Reads one of the allowed values of a flag. */
export function choice<const T extends string>(choices: readonly T[]): (text: string, flag: string) => T {
  return (text, flag) => {
    const found = choices.find((one) => one === text);
    if (found !== undefined) return found;
    throw new ConfigError(`${flag}: ${JSON.stringify(text)} is not one of ${choices.join(", ")}`);
  };
}

/** Whole seconds, as Go writes a duration: 0, or at least 10 minutes, in which kubelet may still clean up by itself. */
export function gracePeriod(text: string, flag: string): number {
  const [, hours = 0, minutes = 0, seconds = 0] =
    /^(?=.)(?:(\d{1,4})h)?(?:(\d{1,4})m)?(?:(\d{1,6})s)?$/.exec(text) ?? [];
  const ms = ((Number(hours) * 60 + Number(minutes)) * 60 + Number(seconds)) * 1000;
  if (ms >= shortestGraceMs || text === "0" || text === "0s") return ms;
  throw new ConfigError(`${flag}: ${JSON.stringify(text)} is neither 0, for never, nor 10m0s or longer, as 1h30m`);
}

/** A place of one host. */
export function place(text: string, flag: string): { readonly host: string; readonly port: number } {
  const [, host = "", port = ""] = /^(.+):(\d{1,5})$/.exec(text) ?? [];
  if (host !== "" && Number(port) <= 65535) return { host: host.replace(/^\[|\]$/g, ""), port: Number(port) };
  throw new ConfigError(`${flag}: ${JSON.stringify(text)} is not HOST:PORT`);
}

/** A place, or "" for none. */
export function optionalPlace(text: string, flag: string): ReturnType<typeof place> | undefined {
  return text === "" ? undefined : place(text, flag);
}

/** What the kernel takes for the path of a unix socket, in bytes. */
const longestSocketPath = 107;

/** An absolute path that the kernel accepts as the address of a unix socket. */
export function socketPath(path: string, flag: string): string {
  if (Buffer.byteLength(path) <= longestSocketPath) return absolute(path, flag);
  throw new ConfigError(`${flag}: ${JSON.stringify(path)} is longer than ${longestSocketPath} bytes`);
}

/** NAME=DIGEST, with commas; a name may come more than once. */
export function digests(text: string, flag: string): ReadonlyMap<string, ReadonlySet<string>> {
  const all = new Map<string, Set<string>>();
  for (const entry of split(text)) {
    const [, name = "", digest = ""] = /^(nodevolume-[a-z-]{1,50})=([0-9a-f]{16})$/.exec(entry) ?? [];
    if (name === "") {
      const wanted = "NAME=DIGEST of one of our admission policies, with the 16 digits that PolicyMissing shows";
      throw new ConfigError(`${flag}: ${JSON.stringify(entry)} is not ${wanted}`);
    }
    all.set(name, (all.get(name) ?? new Set()).add(digest));
  }
  return all;
}

/** Of an API server, or of a proxy before it. */
export function server(text: string, flag: string): string {
  if (text.startsWith("unix://")) socketPath(text.slice("unix://".length), flag);
  return text;
}

/** NAME=true or NAME=false, with commas. */
export function features(text: string, flag: string): Features {
  try {
    return parseFeatureGates(text, featureGates);
  } catch (error) {
    if (error instanceof FeatureGateError) throw new ConfigError(`${flag}: ${error.message}`, { cause: error });
    throw error;
  }
}

/** The name of a Node whose agent can have a Lease of its own. */
export function nodeName(name: string, flag: string): string {
  if (!reservedNodeNames.includes(name)) return name;
  throw new ConfigError(
    `${flag}: the Lease ${JSON.stringify(name)} is none of an agent, so a Node of this name is not served: give the Node another name`,
  );
}
