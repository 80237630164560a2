import { parseArgs } from "node:util";
import { flexVolumeDir } from "./api/names.ts";
import { defaultFlocker, type FlockerPlace } from "./host/flocker.ts";

/**
 * Flags and environment → a frozen configuration of one role. The only reader of process.env and process.argv.
 * Every flag has an environment variable beside it, because that is how kustomize hands in what both roles share.
 */
export type Config = ControllerConfig | AgentConfig;

export interface CommonConfig {
  readonly api: ApiAccess;
  /** Host path prefixes beneath which volumes may be mounted. The agent is the authority, the controller reports early. */
  readonly allowedPrefixes: readonly string[];
  /**
   * host:port of /metrics, /healthz and /readyz. Without a host: every address of the machine, IPv6 and IPv4. Port 0 takes
   * a free one, which the log names.
   */
  readonly metricsAddress: { readonly host: string | undefined; readonly port: number };
  readonly logLevel: "error" | "warn" | "info" | "debug";
  /**
   * Whether the controller attaches volumes to nodes; kubelet's enableControllerAttachDetach. If not, only volumes of drivers
   * that attach nothing are used.
   */
  readonly controllerAttachDetach: boolean;
}

/** How to reach the API server; the defaults are those of a pod. The token is read again when it is refused. */
export interface ApiAccess {
  readonly server: string;
  readonly caFile: string;
  readonly tokenFile: string;
}

export interface ControllerConfig extends CommonConfig {
  readonly role: "controller";
  /** Name of this candidate in the leader's Lease. */
  readonly identity: string;
  /** Which volumes that kubelet manages get an intent in mode Observe on each node that has pods with them. */
  readonly observePods: "None" | "PersistentVolumes";
}

export interface AgentConfig extends CommonConfig {
  readonly role: "agent";
  readonly nodeName: string;
  /** Journal, lock, data, staging and trash. Must survive the agent; shared (Bidirectional) if the agent is in a container. */
  readonly stateDir: string;
  /** Where the node's root is seen: / on the host, /host in the DaemonSet. Sources and devices are looked up beneath it. */
  readonly hostRoot: string;
  /** A process in the node's mount namespace, whose table says what the node and its pods see; 1 with hostPID. */
  readonly hostPid: number;
  /** Root of staging and publish paths: CSI drivers see it at the same path, and their mounts reach it (Bidirectional). */
  readonly csiDir: string;
  /** Where CSI drivers register: kubelet's plugin registration directory. */
  readonly csiRegistrationDir: string;
  /** Where vendors' flexvolume drivers are on the node: kubelet's --volume-plugin-dir. */
  readonly flexVolumeDir: string;
  /** Where the control service of Flocker is. */
  readonly flocker: FlockerPlace;
  /** kubelet's root directory (its --root-dir), as kubelet names it: the agent binds into pods beneath it (Bidirectional). */
  readonly kubeletDir: string;
  /** Whether pods of this node may use its volumes: by the driver csi.nodevolume.dev, which the agent then serves. */
  readonly pods: boolean;
  /** Milliseconds for which something that kubelet has left is shown as an orphan before it is removed; 0: nothing is removed. */
  readonly reapOrphansGracePeriodMs: number;
}

/** A flag or variable is missing or wrong; the message names it and what it should be. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
}

type Env = { readonly [name: string]: string | undefined };

const serviceAccount = "/var/run/secrets/kubernetes.io/serviceaccount";
const kubelet = "/var/lib/kubelet";
/** Some five times the two minutes after which kubelet tries again at the latest what has failed. */
const shortestGraceMs = 10 * 60_000;
const defaultPrefixes = "/mnt/nodevolume,/var/lib/nodevolume/mounts";

const flags = {
  "api-server": { type: "string" },
  "api-ca-file": { type: "string" },
  "api-token-file": { type: "string" },
  "allowed-prefix": { type: "string", multiple: true },
  "metrics-address": { type: "string" },
  "log-level": { type: "string" },
  "controller-attach-detach": { type: "string" },
  identity: { type: "string" },
  "observe-pods": { type: "string" },
  "node-name": { type: "string" },
  "state-dir": { type: "string" },
  "host-root": { type: "string" },
  "host-pid": { type: "string" },
  "csi-dir": { type: "string" },
  "csi-registration-dir": { type: "string" },
  "flex-volume-dir": { type: "string" },
  "flocker-control-service": { type: "string" },
  "kubelet-dir": { type: "string" },
  pods: { type: "string" },
  "reap-orphans-grace-period": { type: "string" },
} as const;

/** @throws ConfigError */
export function parseConfig(argv: readonly string[], env: Env): Config {
  const [role, ...rest] = argv;
  if (role !== "controller" && role !== "agent") {
    throw new ConfigError(`the first argument is the role: controller or agent, not ${JSON.stringify(role ?? "")}`);
  }
  const values = parseFlags(rest);
  const common: CommonConfig = {
    api: {
      server: values["api-server"] ?? inClusterServer(env),
      caFile: values["api-ca-file"] ?? `${serviceAccount}/ca.crt`,
      tokenFile: values["api-token-file"] ?? `${serviceAccount}/token`,
    },
    allowedPrefixes: prefixes(values["allowed-prefix"] ?? split(env["NODEVOLUME_ALLOWED_PREFIXES"] ?? defaultPrefixes)),
    metricsAddress: address(values["metrics-address"] ?? env["NODEVOLUME_METRICS_ADDRESS"] ?? "127.0.0.1:9808"),
    logLevel: logLevel(values["log-level"] ?? env["NODEVOLUME_LOG_LEVEL"] ?? "info"),
    controllerAttachDetach: truth(
      values["controller-attach-detach"] ?? env["NODEVOLUME_CONTROLLER_ATTACH_DETACH"] ?? "true",
      "--controller-attach-detach",
    ),
  };
  if (role === "controller") {
    const identity = values.identity ?? env["POD_NAME"];
    const observePods = observed(values["observe-pods"] ?? env["NODEVOLUME_OBSERVE_PODS"] ?? "PersistentVolumes");
    return Object.freeze({ ...common, role, identity: required(identity, "--identity", "POD_NAME"), observePods });
  }
  const kubeletDir = absolute(values["kubelet-dir"] ?? env["NODEVOLUME_KUBELET_DIR"] ?? kubelet, "--kubelet-dir");
  return Object.freeze({
    ...common,
    role,
    kubeletDir,
    pods: truth(values.pods ?? env["NODEVOLUME_PODS"] ?? "true", "--pods"),
    reapOrphansGracePeriodMs: gracePeriod(
      values["reap-orphans-grace-period"] ?? env["NODEVOLUME_REAP_ORPHANS_GRACE_PERIOD"] ?? "0",
      "--reap-orphans-grace-period",
    ),
    nodeName: required(values["node-name"] ?? env["NODE_NAME"], "--node-name", "NODE_NAME"),
    stateDir: absolute(values["state-dir"] ?? env["NODEVOLUME_STATE_DIR"] ?? "/var/lib/nodevolume", "--state-dir"),
    hostRoot: absolute(values["host-root"] ?? env["NODEVOLUME_HOST_ROOT"] ?? "/", "--host-root"),
    hostPid: processNumber(values["host-pid"] ?? env["NODEVOLUME_HOST_PID"] ?? "1"),
    flexVolumeDir: absolute(
      values["flex-volume-dir"] ?? env["NODEVOLUME_FLEX_VOLUME_DIR"] ?? flexVolumeDir,
      "--flex-volume-dir",
    ),
    flocker: flockerPlace(values["flocker-control-service"], env),
    csiDir: absolute(
      values["csi-dir"] ?? env["NODEVOLUME_CSI_DIR"] ?? `${kubeletDir}/plugins/nodevolume.dev`,
      "--csi-dir",
    ),
    csiRegistrationDir: absolute(
      values["csi-registration-dir"] ?? env["NODEVOLUME_CSI_REGISTRATION_DIR"] ?? `${kubeletDir}/plugins_registry`,
      "--csi-registration-dir",
    ),
  });
}

function parseFlags(argv: string[]) {
  try {
    return parseArgs({ args: argv, options: flags, strict: true, allowPositionals: false }).values;
  } catch (error) {
    throw new ConfigError(error instanceof Error ? error.message : String(error), { cause: error });
  }
}

function inClusterServer(env: Env): string {
  const host = env["KUBERNETES_SERVICE_HOST"];
  if (host === undefined) {
    throw new ConfigError("--api-server is needed outside a pod: https://HOST:PORT of the API server");
  }
  const port = env["KUBERNETES_SERVICE_PORT"] ?? "443";
  return `https://${host.includes(":") ? `[${host}]` : host}:${port}`;
}

function required(value: string | undefined, flag: string, variable: string): string {
  if (value === undefined || value === "") throw new ConfigError(`${flag} (or ${variable}) is needed`);
  return value;
}

function split(list: string): string[] {
  return list.split(",").filter((entry) => entry !== "");
}

function prefixes(list: readonly string[]): readonly string[] {
  if (list.length === 0) throw new ConfigError("--allowed-prefix needs at least one path");
  return Object.freeze(list.map((path) => absolute(path, "--allowed-prefix")));
}

function absolute(path: string, flag: string): string {
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

function processNumber(text: string): number {
  if (/^[1-9][0-9]{0,9}$/.test(text)) return Number(text);
  throw new ConfigError(`--host-pid: ${JSON.stringify(text)} is not the number of a process`);
}

function address(text: string): CommonConfig["metricsAddress"] {
  const match = /^(.*):(\d{1,5})$/.exec(text);
  const port = Number(match?.[2]);
  if (match === null || port > 65535)
    throw new ConfigError(`--metrics-address: ${JSON.stringify(text)} is not HOST:PORT`);
  return { host: match[1] === "" ? undefined : match[1]?.replace(/^\[|\]$/g, ""), port };
}

/** As kubelet had it from its environment; a flag goes before. */
function flockerPlace(flag: string | undefined, env: Env): FlockerPlace {
  const { host, port } = defaultFlocker;
  const [ofHost, ofPort] = [env["FLOCKER_CONTROL_SERVICE_HOST"] ?? host, env["FLOCKER_CONTROL_SERVICE_PORT"] ?? port];
  const text = flag ?? `${ofHost}:${ofPort}`;
  const [, found = "", number = ""] = /^(.+):(\d{1,5})$/.exec(text) ?? [];
  if (found !== "" && Number(number) <= 65535) return { host: found.replace(/^\[|\]$/g, ""), port: Number(number) };
  throw new ConfigError(`--flocker-control-service: ${JSON.stringify(text)} is not HOST:PORT`);
}

function truth(text: string, flag: string): boolean {
  if (text === "true" || text === "false") return text === "true";
  throw new ConfigError(`${flag}: ${JSON.stringify(text)} is not one of true, false`);
}

/** As Go and kubelet write a duration, of whole seconds. Shorter than 10 minutes is a time in which kubelet may still be at it. */
function gracePeriod(text: string, flag: string): number {
  const [, hours = 0, minutes = 0, seconds = 0] =
    /^(?=.)(?:(\d{1,4})h)?(?:(\d{1,4})m)?(?:(\d{1,6})s)?$/.exec(text) ?? [];
  const ms = ((Number(hours) * 60 + Number(minutes)) * 60 + Number(seconds)) * 1000;
  if (ms >= shortestGraceMs || text === "0" || text === "0s") return ms;
  throw new ConfigError(`${flag}: ${JSON.stringify(text)} is neither 0, for never, nor 10m0s or longer, as 1h30m`);
}

function observed(text: string): ControllerConfig["observePods"] {
  if (text === "None" || text === "PersistentVolumes") return text;
  throw new ConfigError(`--observe-pods: ${JSON.stringify(text)} is not one of None, PersistentVolumes`);
}

function logLevel(text: string): CommonConfig["logLevel"] {
  if (text === "error" || text === "warn" || text === "info" || text === "debug") return text;
  throw new ConfigError(`--log-level: ${JSON.stringify(text)} is not one of error, warn, info, debug`);
}
