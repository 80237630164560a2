import type { Features } from "./feature-gates.ts";
import type { FlockerPlace } from "./host/ports/flocker.ts";
import type { AcceptedPolicies } from "./kube/policies/policies.ts";
import type { LogLevel } from "./log-level.ts";

/** What a role is started with: read by config.ts, and not changed after that. */
export type Config = ControllerConfig | AgentConfig | ApiProxyConfig;

/** What every role has. */
export interface ProcessConfig {
  readonly api: ApiAccess;
  /**
   * host:port of /metrics, /healthz and /readyz. Without a host: every address of the machine, IPv6 and IPv4. Port 0
   * takes a free one, which the log names.
   */
  readonly metricsAddress: { readonly host: string | undefined; readonly port: number };
  readonly logLevel: LogLevel;
  /** Metrics by TLS, to those alone who may get them; never of an agent, which listens to its node alone. */
  readonly secureMetrics: boolean;
  /** That a token must be of with which metrics are asked for; undefined: of the API server itself. */
  readonly metricsTokenAudience: string | undefined;
  /** Where the log level is read while it runs, a file each for whom it is meant; undefined: it stays as it is. */
  readonly logLevelDir: string | undefined;
}

/** Settings of agent and controller. */
export interface CommonConfig extends ProcessConfig {
  /**
   * Host path prefixes beneath which volumes may be mounted. The agent is the authority, the controller reports early.
   */
  readonly allowedPrefixes: readonly string[];
  /** Whether the usual metrics of a Node process are served: process_* and nodejs_*. */
  readonly processMetrics: boolean;
  /** What is on of src/feature-gates.ts. */
  readonly features: Features;
  /**
   * Whether the controller attaches volumes to nodes; kubelet's enableControllerAttachDetach. If not, only volumes of
   * drivers that attach nothing are used.
   */
  readonly controllerAttachDetach: boolean;
  /** Digests of policies that are right although they are not those of config/policy. */
  readonly acceptedPolicies: AcceptedPolicies;
}

/** How to reach the API server; the defaults are those of a pod. The token is read again when it is refused. */
interface ApiAccess {
  /**
   * https://HOST:PORT; or unix://PATH, the socket of a proxy that has the token, and then the two files are not read.
   */
  readonly server: string;
  readonly caFile: string;
  readonly tokenFile: string;
}

/** Settings of the role `controller`. */
export interface ControllerConfig extends CommonConfig {
  readonly role: "controller";
  /** Name of this candidate in the leader's Lease. */
  readonly identity: string;
  /** Which volumes that kubelet manages get an intent in mode Observe on each node that has pods with them. */
  readonly observePods: "None" | "PersistentVolumes";
  /** Where the page is served, on loopback alone; undefined: it is not. */
  readonly pageAddress: { readonly host: string | undefined; readonly port: number } | undefined;
  /** Whether each NodeVolumeState has an index of its node's intents, for agents that watch that (decision 0067). */
  readonly indexIntents: boolean;
}

/** Settings of the role `agent`. */
export interface AgentConfig extends CommonConfig {
  readonly role: "agent";
  readonly nodeName: string;
  /** How it hears of its node's intents: Index needs a controller with --index-intents. */
  readonly intents: "Watch" | "Index";
  /**
   * Journal, lock, data, staging and trash. Must survive the agent; shared (Bidirectional) if the agent is in a
   * container.
   */
  readonly stateDir: string;
  /**
   * Where the node's root is seen: / on the host, /host in the DaemonSet. Sources and devices are looked up beneath it.
   */
  readonly hostRoot: string;
  /** A process in the node's mount namespace, whose table says what the node and its pods see; 1 with hostPID. */
  readonly hostPid: number;
  /**
   * Root of staging and publish paths: CSI drivers see it at the same path, and their mounts reach it (Bidirectional).
   */
  readonly csiDir: string;
  /** Where CSI drivers register: kubelet's plugin registration directory. */
  readonly csiRegistrationDir: string;
  /** Where vendors' flexvolume drivers are on the node: kubelet's --volume-plugin-dir. */
  readonly flexVolumeDir: string;
  /** Where the control service of Flocker is. */
  readonly flocker: FlockerPlace;
  /**
   * kubelet's root directory (its --root-dir), as kubelet names it: the agent binds into pods beneath it
   * (Bidirectional).
   */
  readonly kubeletDir: string;
  /** Whether pods of this node may use its volumes: by the driver csi.nodevolume.dev, which the agent then serves. */
  readonly pods: boolean;
  /**
   * Milliseconds for which something that kubelet has left is shown as an orphan before it is removed; 0: nothing is
   * removed.
   */
  readonly reapOrphansGracePeriodMs: number;
}

/** Settings of the role `api-proxy`. */
export interface ApiProxyConfig extends ProcessConfig {
  readonly role: "api-proxy";
  /** The node that the agent beside it is of. */
  readonly nodeName: string;
  /** Where that agent finds it. Its directory is this process's alone, and root's. */
  readonly socket: string;
  /** Where the agent serves its metrics, which are served behind our own; undefined: ours alone. */
  readonly agentMetrics: { readonly host: string; readonly port: number } | undefined;
}
