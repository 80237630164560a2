// How quickstart and the tests start controller and agents: the bundles, as separate processes with their own identity.
import { dirname, join } from "node:path";
import type { Identity } from "./control-plane/identities.ts";
import { imageEnvironment, nodeOptions } from "./image.ts";
import { layout, type PretendHost } from "./pretend-node/node.ts";
import { type RunningProcess, startProcess } from "./process.ts";
import { root } from "./root.ts";

export interface RoleOptions {
  readonly server: string;
  readonly identity: Identity;
  readonly logFile: string;
  readonly env: NodeJS.ProcessEnv;
  /** Further flags. */
  readonly flags?: readonly string[];
  /** Both prefixes of a pretended node if not given. */
  readonly allowedPrefixes?: readonly string[];
  /** A program that becomes the agent, with its arguments: as setpriv, which takes rights away. */
  readonly startedBy?: readonly string[];
}

const main = join(root, "dist/main.cjs");

const bothPrefixes = [layout.defaultPrefix, layout.prefix];

/** One of several on this machine. */
const ofController = ["--page-address", "127.0.0.1:0"];

export function startController(name: string, options: RoleOptions): RunningProcess {
  const args = [...nodeOptions(), main, "controller", "--identity", name, ...ofController, ...common(options)];
  return startProcess({
    name,
    command: process.execPath,
    args,
    logFile: options.logFile,
    env: imageEnvironment(options.env),
  });
}

/** Starts the agent of a pretended node in a mount namespace as its container would have it. */
export function startAgent(host: PretendHost, options: RoleOptions): RunningProcess {
  const flags = ["--node-name", host.name, "--state-dir", layout.stateDir, "--host-root", layout.hostRoot];
  const node = ["--host-pid", String(host.pid), "--kubelet-dir", layout.kubeletDir];
  const { startedBy = [] } = options;
  const command = [
    ...startedBy,
    process.execPath,
    ...nodeOptions(),
    main,
    "agent",
    ...flags,
    ...node,
    ...common(options),
  ];
  return host.startAgent(command, options.logFile, imageEnvironment(options.env));
}

/** What stands between an agent and the API server, without any capability. @returns also the agent's --api-server */
export function startApiProxy(
  nodeName: string,
  { server, identity, logFile, env, flags: more = [] }: RoleOptions,
): RunningProcess & { readonly apiServer: string } {
  const socket = join(dirname(identity.tokenFile), "api", "api.sock");
  const files = ["--api-ca-file", identity.caFile, "--api-token-file", identity.tokenFile];
  const flags = ["--node-name", nodeName, "--socket", socket, "--metrics-address", "127.0.0.1:0"];
  const command = [
    process.execPath,
    ...nodeOptions(),
    main,
    "api-proxy",
    "--api-server",
    server,
    ...files,
    ...flags,
    ...more,
  ];
  const started = startProcess({
    name: `api-proxy of ${nodeName}`,
    command: "setpriv",
    args: ["--no-new-privs", "--inh-caps=-all", "--bounding-set=-all", ...command],
    logFile,
    env: imageEnvironment(env),
  });
  return { ...started, apiServer: `unix://${socket}` };
}

function common({ server, identity, flags = [], allowedPrefixes = bothPrefixes }: RoleOptions): string[] {
  const files = ["--api-ca-file", identity.caFile, "--api-token-file", identity.tokenFile];
  return [
    ...["--api-server", server, ...(server.startsWith("unix:") ? [] : files)],
    ...allowedPrefixes.flatMap((prefix) => ["--allowed-prefix", prefix]),
    ...["--metrics-address", "127.0.0.1:0"],
    ...flags,
  ];
}
