import { flexVolumeDir } from "./api/names.ts";
import {
  absolute,
  address,
  audience,
  ConfigError,
  choice,
  digests,
  features,
  gracePeriod,
  loopback,
  nodeName,
  optionalPath,
  optionalPlace,
  place,
  prefixes,
  processNumber,
  server,
  socketPath,
  truth,
} from "./config-values.ts";
import { defaultFlocker } from "./host/ports/flocker.ts";
import { logLevels } from "./log-level.ts";

/** Variables of the environment, by name. */
export type Env = { readonly [name: string]: string | undefined };

/** One setting: its flag, the variable beside it, what holds without both, how its text is read, and what it means. */
export type Setting = {
  /** Without dashes. */
  readonly flag: string;
  readonly env?: string;
  /** Absent: the setting is needed. A function: it depends on other variables or settings. @throws ConfigError */
  readonly default?: string | ((env: Env, textOf: (setting: Setting) => string) => string);
  /** As in docs/settings.md: Markdown. */
  readonly doc: string;
} & (
  | { readonly list?: never; readonly parse: (text: string, flag: string) => unknown }
  /** The flag may be there more than once; the variable has commas. */
  | { readonly list: true; readonly parse: (texts: readonly string[]) => unknown }
);

/** Settings by the name of their field in the configuration. */
export type Settings = { readonly [field: string]: Setting };

/** What settings are once they are read. */
export type ValuesOf<S extends Settings> = { readonly [field in keyof S]: ReturnType<S[field]["parse"]> };

const serviceAccount = "/var/run/secrets/kubernetes.io/serviceaccount";
const asItIs = (text: string) => text;
const beneathKubelet = (path: string) => (_: Env, textOf: (setting: Setting) => string) =>
  `${textOf(kubeletDirSetting)}/${path}`;

function inClusterServer(env: Env): string {
  const host = env["KUBERNETES_SERVICE_HOST"];
  if (host === undefined) {
    throw new ConfigError("--api-server is needed outside a pod: https://HOST:PORT of the API server");
  }
  const port = env["KUBERNETES_SERVICE_PORT"] ?? "443";
  return `https://${host.includes(":") ? `[${host}]` : host}:${port}`;
}

/** As kubelet had it from its environment. */
function flockerOfKubelet(env: Env): string {
  const { host, port } = defaultFlocker;
  return `${env["FLOCKER_CONTROL_SERVICE_HOST"] ?? host}:${env["FLOCKER_CONTROL_SERVICE_PORT"] ?? port}`;
}

/** Of agent and proxy. */
const nodeNameSetting = {
  flag: "node-name",
  env: "NODE_NAME",
  parse: nodeName,
  doc: "its Node",
} as const satisfies Setting;

const kubeletDirSetting = {
  flag: "kubelet-dir",
  env: "NODEVOLUME_KUBELET_DIR",
  default: "/var/lib/kubelet",
  parse: absolute,
  doc: "kubelet's `--root-dir`; for another one, the component `kubelet-dir` also changes the volumes of the DaemonSet",
} as const satisfies Setting;

/** How to reach the API server; the defaults are those of a pod. */
export const apiSettings = {
  server: {
    flag: "api-server",
    default: inClusterServer,
    parse: server,
    doc: "`https://HOST:PORT` of the API server; for an agent also `unix://PATH`, the socket of an api-proxy; then it reads no token",
  },
  caFile: {
    flag: "api-ca-file",
    default: `${serviceAccount}/ca.crt`,
    parse: asItIs,
    doc: "the certificate authority of its certificate",
  },
  tokenFile: {
    flag: "api-token-file",
    default: `${serviceAccount}/token`,
    parse: asItIs,
    doc: "the token; read again when it is rejected",
  },
} as const satisfies Settings;

/** What every role has. */
export const processSettings = {
  metricsAddress: {
    flag: "metrics-address",
    env: "NODEVOLUME_METRICS_ADDRESS",
    default: "127.0.0.1:9808",
    parse: address,
    doc: "HOST:PORT of `/metrics`, `/healthz` and `/readyz`; without a host on every address",
  },
  secureMetrics: {
    flag: "secure-metrics",
    env: "NODEVOLUME_SECURE_METRICS",
    default: "false",
    parse: truth,
    doc: "for controller and api-proxy: `/metrics`, `/healthz` and `/readyz` with TLS, with details only for permitted clients. An agent ignores it",
  },
  metricsTokenAudience: {
    flag: "metrics-token-audience",
    env: "NODEVOLUME_METRICS_TOKEN_AUDIENCE",
    default: "",
    parse: audience,
    doc: "with `--secure-metrics`: the audience of tokens, by default the API server's own; see below",
  },
  logLevel: {
    flag: "log-level",
    env: "NODEVOLUME_LOG_LEVEL",
    default: "info",
    parse: choice(logLevels),
    doc: "`error`, `warn`, `info` or `debug`",
  },
  logLevelDir: {
    flag: "log-level-dir",
    env: "NODEVOLUME_LOG_LEVEL_DIR",
    default: "",
    parse: optionalPath,
    doc: "a directory whose files set the level at run time ([support](support.md)): `controller`, `agents`, `agent.NODE`. The manifests have it",
  },
} as const satisfies Settings;

/** What agent and controller have. */
export const commonSettings = {
  allowedPrefixes: {
    flag: "allowed-prefix",
    env: "NODEVOLUME_ALLOWED_PREFIXES",
    default: "/var/lib/nodevolume/mounts",
    list: true,
    parse: prefixes,
    doc: "host paths under which volumes may be mounted; the agent enforces it, and the controller reports early what the agent would reject",
  },
  processMetrics: {
    flag: "process-metrics",
    env: "NODEVOLUME_PROCESS_METRICS",
    default: "true",
    parse: truth,
    doc: "for controller and agent: `false` leaves out the usual metrics of a Node process, `process_*` and `nodejs_*`",
  },
  features: {
    flag: "feature-gates",
    env: "NODEVOLUME_FEATURE_GATES",
    default: "",
    parse: features,
    doc: "`NAME=true,NAME=false`: see below",
  },
  controllerAttachDetach: {
    flag: "controller-attach-detach",
    env: "NODEVOLUME_CONTROLLER_ATTACH_DETACH",
    default: "true",
    parse: truth,
    doc: "`false`: no volume is attached, and only volumes of drivers without attachment are used ([0030](decisions/0030-nodes-that-nothing-is-attached-to.md))",
  },
  acceptedPolicies: {
    flag: "accepted-policies",
    env: "NODEVOLUME_ACCEPTED_POLICIES",
    default: "",
    parse: digests,
    doc: "`NAME=DIGEST` with commas: our policies or bindings that you changed on purpose ([security](security.md#policies-that-are-missing-or-different)); see below",
  },
} as const satisfies Settings;

/** What only the controller has. */
export const controllerSettings = {
  identity: {
    flag: "identity",
    env: "POD_NAME",
    parse: asItIs,
    doc: "its name in the leader's Lease",
  },
  observePods: {
    flag: "observe-pods",
    env: "NODEVOLUME_OBSERVE_PODS",
    default: "PersistentVolumes",
    parse: choice(["None", "PersistentVolumes"]),
    doc: "`None`: kubelet's mounts for pods are not observed ([observe](observe.md))",
  },
  pageAddress: {
    flag: "page-address",
    env: "NODEVOLUME_PAGE_ADDRESS",
    default: "127.0.0.1:9809",
    parse: loopback,
    doc: 'HOST:PORT of the [page](page.md), only on loopback; `""`: no page',
  },
  indexIntents: {
    flag: "index-intents",
    env: "NODEVOLUME_INDEX_INTENTS",
    default: "false",
    parse: truth,
    doc: "maintains the index for agents with `--intents=Index`",
  },
} as const satisfies Settings;

/** What only the agent has. */
export const agentSettings = {
  nodeName: nodeNameSetting,
  intents: {
    flag: "intents",
    env: "NODEVOLUME_INTENTS",
    default: "Watch",
    parse: choice(["Watch", "Index"]),
    doc: "`Index`: it uses the index of the controller",
  },
  pods: {
    flag: "pods",
    env: "NODEVOLUME_PODS",
    default: "true",
    parse: truth,
    doc: "whether it serves `csi.nodevolume.dev` to kubelet ([pods](pods.md))",
  },
  reapOrphansGracePeriodMs: {
    flag: "reap-orphans-grace-period",
    env: "NODEVOLUME_REAP_ORPHANS_GRACE_PERIOD",
    default: "0",
    parse: gracePeriod,
    doc: "how long an orphan of kubelet is listed before it is removed, such as `1h30m`, at least ten minutes; `0`: never",
  },
  stateDir: {
    flag: "state-dir",
    env: "NODEVOLUME_STATE_DIR",
    default: "/var/lib/nodevolume",
    parse: absolute,
    doc: "journal, staging, data. On a disk that survives a reboot, and Bidirectional in a container",
  },
  hostRoot: {
    flag: "host-root",
    env: "NODEVOLUME_HOST_ROOT",
    default: "/",
    parse: absolute,
    doc: "the path of the node's root: `/host` in the DaemonSet",
  },
  hostPid: {
    flag: "host-pid",
    env: "NODEVOLUME_HOST_PID",
    default: "1",
    parse: processNumber,
    doc: "a process in the node's mount namespace",
  },
  kubeletDir: kubeletDirSetting,
  csiDir: {
    flag: "csi-dir",
    env: "NODEVOLUME_CSI_DIR",
    default: beneathKubelet("plugins/nodevolume.dev"),
    parse: absolute,
    doc: "where drivers stage and publish for the agent",
  },
  csiRegistrationDir: {
    flag: "csi-registration-dir",
    env: "NODEVOLUME_CSI_REGISTRATION_DIR",
    default: beneathKubelet("plugins_registry"),
    parse: absolute,
    doc: "where drivers register",
  },
  flexVolumeDir: {
    flag: "flex-volume-dir",
    env: "NODEVOLUME_FLEX_VOLUME_DIR",
    default: flexVolumeDir,
    parse: absolute,
    doc: "vendors' flexvolume drivers: kubelet's `--volume-plugin-dir`",
  },
  flocker: {
    flag: "flocker-control-service",
    default: flockerOfKubelet,
    parse: place,
    doc: "Flocker's control service",
  },
} as const satisfies Settings;

/** What only the API proxy has. */
export const proxySettings = {
  nodeName: nodeNameSetting,
  socket: {
    flag: "socket",
    default: "/run/nodevolume/api/api.sock",
    parse: socketPath,
    doc: "the socket for the agent; only this user can access its directory",
  },
  agentMetrics: {
    flag: "agent-metrics",
    env: "NODEVOLUME_AGENT_METRICS",
    default: "",
    parse: optionalPlace,
    doc: "HOST:PORT of the agent's metrics: they are served before the proxy's own; without it, only the proxy's own",
  },
} as const satisfies Settings;

/** What a role is started with: read by config.ts, and not changed after that. */
export type Config = ControllerConfig | AgentConfig | ApiProxyConfig;

/** What every role has. */
interface ProcessConfig extends ValuesOf<typeof processSettings> {
  readonly api: ValuesOf<typeof apiSettings>;
}

/** Settings of agent and controller. */
interface CommonConfig extends ProcessConfig, ValuesOf<typeof commonSettings> {}

/** Settings of the role `controller`. */
export interface ControllerConfig extends CommonConfig, ValuesOf<typeof controllerSettings> {
  readonly role: "controller";
}

/** Settings of the role `agent`. */
export interface AgentConfig extends CommonConfig, ValuesOf<typeof agentSettings> {
  readonly role: "agent";
}

/** Settings of the role `api-proxy`. */
export interface ApiProxyConfig extends ProcessConfig, ValuesOf<typeof proxySettings> {
  readonly role: "api-proxy";
}

/** All settings, each flag once, by the roles that have them. */
export const settingsByRole: readonly { readonly roles: string; readonly settings: readonly Setting[] }[] = [
  { roles: "every role", settings: [...Object.values(apiSettings), ...Object.values(processSettings)] },
  { roles: "controller and agent", settings: Object.values(commonSettings) },
  { roles: "controller", settings: Object.values(controllerSettings) },
  { roles: "agent", settings: Object.values(agentSettings) },
  { roles: "api-proxy", settings: Object.values(proxySettings) },
];

/** All settings of all roles, each flag once. */
export const allSettings: readonly Setting[] = [...new Set(settingsByRole.flatMap(({ settings }) => settings))];
