import { parseArgs } from "node:util";
import { flexVolumeDir, reservedNodeNames, systemNamespace } from "./api/names.ts";
import {
  absolute,
  address,
  apartFrom,
  audience,
  ConfigError,
  digests,
  gracePeriod,
  loopback,
  oneOf,
  optionalPath,
  place,
  prefixes,
  processNumber,
  required,
  server,
  socketPath,
  split,
  truth,
} from "./config-values.ts";
import type { CommonConfig, Config, ProcessConfig } from "./configuration.ts";
import { FeatureGateError, type Features, featureGates, parseFeatureGates } from "./feature-gates.ts";
import { defaultFlocker, type FlockerPlace } from "./host/ports/flocker.ts";
import { logLevels } from "./log-level.ts";

export type * from "./configuration.ts";
export { ConfigError };

type Env = { readonly [name: string]: string | undefined };

const serviceAccount = "/var/run/secrets/kubernetes.io/serviceaccount";
const kubelet = "/var/lib/kubelet";
const defaultPrefix = "/var/lib/nodevolume/mounts";

const flags = {
  "api-server": { type: "string" },
  "api-ca-file": { type: "string" },
  "api-token-file": { type: "string" },
  "allowed-prefix": { type: "string", multiple: true },
  "metrics-address": { type: "string" },
  "secure-metrics": { type: "string" },
  "metrics-token-audience": { type: "string" },
  "process-metrics": { type: "string" },
  "log-level": { type: "string" },
  "log-level-dir": { type: "string" },
  "feature-gates": { type: "string" },
  "controller-attach-detach": { type: "string" },
  "accepted-policies": { type: "string" },
  socket: { type: "string" },
  "agent-metrics": { type: "string" },
  identity: { type: "string" },
  "observe-pods": { type: "string" },
  "index-intents": { type: "string" },
  "page-address": { type: "string" },
  intents: { type: "string" },
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

/** Names of all flags, without dashes. */
export const flagNames: readonly string[] = Object.keys(flags);

/**
 * Flags and environment → a frozen configuration of one role. The only reader of process.env and process.argv.
 * Every flag has an environment variable beside it, because that is how kustomize hands in what both roles share.
 * @throws ConfigError
 */
export function parseConfig(argv: readonly string[], env: Env): Config {
  const [role, ...rest] = argv;
  if (role !== "controller" && role !== "agent" && role !== "api-proxy") {
    const roles = "controller or agent, or api-proxy";
    throw new ConfigError(`the first argument is the role: ${roles}, not ${JSON.stringify(role ?? "")}`);
  }
  const values = parseFlags(rest);
  ownNamespace(env["NODEVOLUME_NAMESPACE"]);
  const ofProcess: ProcessConfig = {
    api: {
      server: server(values["api-server"] ?? inClusterServer(env), "--api-server"),
      caFile: values["api-ca-file"] ?? `${serviceAccount}/ca.crt`,
      tokenFile: values["api-token-file"] ?? `${serviceAccount}/token`,
    },
    metricsAddress: address(
      values["metrics-address"] ?? env["NODEVOLUME_METRICS_ADDRESS"] ?? "127.0.0.1:9808",
      "--metrics-address",
    ),
    secureMetrics: truth(values["secure-metrics"] ?? env["NODEVOLUME_SECURE_METRICS"] ?? "false", "--secure-metrics"),
    metricsTokenAudience: audience(
      values["metrics-token-audience"] ?? env["NODEVOLUME_METRICS_TOKEN_AUDIENCE"],
      "--metrics-token-audience",
    ),
    logLevel: oneOf(logLevels, values["log-level"] ?? env["NODEVOLUME_LOG_LEVEL"] ?? "info", "--log-level"),
    logLevelDir: optionalPath(values["log-level-dir"] ?? env["NODEVOLUME_LOG_LEVEL_DIR"], "--log-level-dir"),
  };
  if (role === "api-proxy") {
    const agent = values["agent-metrics"] ?? env["NODEVOLUME_AGENT_METRICS"];
    return Object.freeze({
      ...ofProcess,
      role,
      nodeName: nodeName(required(values["node-name"] ?? env["NODE_NAME"], "--node-name", "NODE_NAME")),
      socket: socketPath(values.socket ?? "/run/nodevolume/api/api.sock", "--socket"),
      agentMetrics: agent === undefined ? undefined : place(agent, "--agent-metrics"),
    });
  }
  const common: CommonConfig = {
    ...ofProcess,
    allowedPrefixes: prefixes(values["allowed-prefix"] ?? split(env["NODEVOLUME_ALLOWED_PREFIXES"] ?? defaultPrefix)),
    processMetrics: truth(
      values["process-metrics"] ?? env["NODEVOLUME_PROCESS_METRICS"] ?? "true",
      "--process-metrics",
    ),
    features: features(values["feature-gates"] ?? env["NODEVOLUME_FEATURE_GATES"] ?? ""),
    controllerAttachDetach: truth(
      values["controller-attach-detach"] ?? env["NODEVOLUME_CONTROLLER_ATTACH_DETACH"] ?? "true",
      "--controller-attach-detach",
    ),
    acceptedPolicies: digests(
      values["accepted-policies"] ?? env["NODEVOLUME_ACCEPTED_POLICIES"] ?? "",
      "--accepted-policies",
    ),
  };
  if (role === "controller") {
    const identity = values.identity ?? env["POD_NAME"];
    const observed = values["observe-pods"] ?? env["NODEVOLUME_OBSERVE_PODS"] ?? "PersistentVolumes";
    const observePods = oneOf(["None", "PersistentVolumes"], observed, "--observe-pods");
    const indexIntents = truth(
      values["index-intents"] ?? env["NODEVOLUME_INDEX_INTENTS"] ?? "false",
      "--index-intents",
    );
    const pageAddress = loopback(values["page-address"] ?? env["NODEVOLUME_PAGE_ADDRESS"] ?? "127.0.0.1:9809");
    const own = { identity: required(identity, "--identity", "POD_NAME"), observePods, indexIntents, pageAddress };
    return Object.freeze({ ...common, role, ...own });
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
    nodeName: nodeName(required(values["node-name"] ?? env["NODE_NAME"], "--node-name", "NODE_NAME")),
    intents: oneOf(["Watch", "Index"], values.intents ?? env["NODEVOLUME_INTENTS"] ?? "Watch", "--intents"),
    stateDir: apartFrom(
      common.allowedPrefixes,
      absolute(values["state-dir"] ?? env["NODEVOLUME_STATE_DIR"] ?? "/var/lib/nodevolume", "--state-dir"),
    ),
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

function features(text: string): Features {
  try {
    return parseFeatureGates(text, featureGates);
  } catch (error) {
    if (error instanceof FeatureGateError) throw new ConfigError(`--feature-gates: ${error.message}`, { cause: error });
    throw error;
  }
}

/** Leases, RBAC and FlowSchemas name it, and an overlay's `namespace:` changes some of that. @throws ConfigError */
function ownNamespace(name: string | undefined): void {
  if (name === undefined || name === systemNamespace) return;
  throw new ConfigError(
    `this pod is in the namespace ${JSON.stringify(name)}, and runs in ${systemNamespace} alone: take namespace: out of the overlay`,
  );
}

/** Whose agent could have no Lease of its own. */
function nodeName(name: string): string {
  if (!reservedNodeNames.includes(name)) return name;
  throw new ConfigError(
    `--node-name: the Lease ${JSON.stringify(name)} is none of an agent, so a Node of this name is not served: give the Node another name`,
  );
}

/** As kubelet had it from its environment; a flag goes before. */
function flockerPlace(flag: string | undefined, env: Env): FlockerPlace {
  const { host, port } = defaultFlocker;
  const [ofHost, ofPort] = [env["FLOCKER_CONTROL_SERVICE_HOST"] ?? host, env["FLOCKER_CONTROL_SERVICE_PORT"] ?? port];
  const text = flag ?? `${ofHost}:${ofPort}`;
  return place(text, "--flocker-control-service");
}
