import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type ApiClient, createApiClient } from "../api-client.ts";
import { type RunningProcess, StepError, startProcess, tailOf } from "../process.ts";
import type { ToolPaths } from "../tools/locate.ts";
import { type ClusterUser, type Credentials, makeCredentials } from "./credentials.ts";
import { apiServerArgs, etcdArgs } from "./flags.ts";

export interface ControlPlaneOptions {
  readonly tools: ToolPaths;
  /** Everything it writes is beneath this folder. */
  readonly directory: string;
  /** For benchmarks: etcd waits for the disk as in a real cluster, and the API server serves profiles. */
  readonly measured?: boolean;
  /** An audit policy: what is to be written to `audit.log` in the directory. */
  readonly audit?: object;
  /** Who else has a token. */
  readonly users?: readonly ClusterUser[];
  readonly signal?: AbortSignal;
}

export interface ControlPlane {
  readonly directory: string;
  /** https://127.0.0.1:port */
  readonly server: string;
  /** PEM. */
  readonly ca: string;
  readonly credentials: Credentials;
  readonly kubectl: string;
  /** As bootstrap administrator. */
  readonly admin: ApiClient;
  readonly etcd: RunningProcess;
  apiServer(): RunningProcess;
  /** Ends the API server; everything else goes on. */
  stopApiServer(): Promise<void>;
  /**
   * Starts it again where it was.
   * @param begun told of the process, which is not ready yet;
   * @param flags more of them, this time
   */
  startApiServer(begun?: (process: RunningProcess) => void, flags?: readonly string[]): Promise<void>;
  stop(): Promise<void>;
}

const readyTimeout = 180_000;
/** Of one under measurement, which thousands of agents ask while it starts. */
const measuredReadyTimeout = 240_000;

/**
 * Starts etcd (on unix sockets) and kube-apiserver (on a free loopback port, TLS, random credentials) and waits for
 * both.
 */
export async function startControlPlane(options: ControlPlaneOptions): Promise<ControlPlane> {
  mkdirSync(options.directory, { recursive: true, mode: 0o700 });
  const credentials = makeCredentials(options.directory, options.users);
  const etcd = startProcess({
    name: "etcd",
    command: options.tools.etcd,
    args: etcdArgs(options.measured === true),
    // Its sockets are made in the working folder; the API server has to be started in the same one.
    cwd: options.directory,
    logFile: join(options.directory, "etcd.log"),
  });
  const start = (port: number, begun?: Begun, flags?: readonly string[]) =>
    startApiServer(port, credentials, options, begun, flags);
  let running = await startOnFreePort(start, etcd);
  const { server, ca } = running;
  const admin = createApiClient({ server, ca, token: credentials.adminToken });
  return {
    directory: options.directory,
    server,
    ca,
    credentials,
    kubectl: options.tools.kubectl,
    admin,
    etcd,
    apiServer: () => running.process,
    stopApiServer: () => running.process.stop(),
    async startApiServer(begun, flags) {
      running = await start(Number(new URL(server).port), begun, flags);
    },
    async stop() {
      admin.close();
      // Nobody reads its state again: with a watch open it would take all the time that it is given.
      await running.process.stop(0);
      await etcd.stop(0);
    },
  };
}

type Begun = (process: RunningProcess) => void;

interface StartedApiServer {
  readonly process: RunningProcess;
  readonly server: string;
  readonly ca: string;
}

class PortTaken extends Error {}

/** A port that was free when asked for may be taken a moment later by somebody else: then another one is tried. */
async function startOnFreePort(start: (port: number) => Promise<StartedApiServer>, etcd: RunningProcess) {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await start(await freePort());
    } catch (error) {
      if (error instanceof PortTaken && attempt < 5) continue;
      await etcd.stop(1_000);
      throw error;
    }
  }
}

async function startApiServer(
  port: number,
  credentials: Credentials,
  options: ControlPlaneOptions,
  begun?: Begun,
  flags: readonly string[] = [],
): Promise<StartedApiServer> {
  const process = startProcess({
    name: "kube-apiserver",
    command: options.tools["kube-apiserver"],
    args: [...apiServerArgs(port, credentials, options.measured === true, auditFiles(options)), ...flags],
    cwd: options.directory,
    logFile: join(options.directory, "kube-apiserver.log"),
  });
  begun?.(process);
  const server = `https://127.0.0.1:${port}`;
  const timeout = options.measured === true ? measuredReadyTimeout : readyTimeout;
  const deadline = performance.now() + timeout;
  while (performance.now() < deadline) {
    if (process.ending() !== undefined) break;
    if (existsSync(credentials.caFile) && (await isReady(server, credentials))) {
      return { process, server, ca: readFileSync(credentials.caFile, "utf8") };
    }
    await sleep(50);
    if (options.signal?.aborted) {
      await process.stop(1_000);
      options.signal.throwIfAborted();
    }
  }
  const ending = process.ending() ?? `was not ready after ${timeout / 1000} s`;
  await process.stop(1_000);
  if (tailOf(process.logFile).some((line) => line.includes("address already in use"))) throw new PortTaken();
  throw new StepError(`kube-apiserver ${ending}`, {
    logFile: process.logFile,
    remedy: "if the log above names no cause, the machine may be too slow or out of memory: try again",
  });
}

function auditFiles({ audit, directory }: ControlPlaneOptions) {
  if (audit === undefined) return undefined;
  const policyFile = join(directory, "audit-policy.json");
  writeFileSync(policyFile, JSON.stringify(audit));
  return { policyFile, logFile: join(directory, "audit.log") };
}

async function isReady(server: string, credentials: Credentials): Promise<boolean> {
  const ca = readFileSync(credentials.caFile, "utf8");
  const client = createApiClient({ server, ca, token: credentials.adminToken });
  try {
    return (await client.call("GET", "/readyz", { timeoutMs: 5_000 })).status === 200;
  } catch {
    return false; // not listening yet
  } finally {
    client.close();
  }
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.on("error", reject).listen(0, "127.0.0.1", () => {
      const address = server.address();
      const port = typeof address === "object" && address !== null ? address.port : 0;
      server.close(() => resolve(port));
    });
  });
}
