import { readlinkSync } from "node:fs";
import { Registry } from "prom-client";
import { fieldManager } from "../api/names.ts";
import { type AgentConfig, ConfigError } from "../config.ts";
import { LatePodDriver } from "../csi/server/late-pod-driver.ts";
import { withdrawPodDriver } from "../csi/server/withdraw.ts";
import { messageOf, VolumeError } from "../errors.ts";
import { linuxSockets } from "../host/linux/files/linux-sockets.ts";
import { prepareCSIDirectory, prepareStateDirectories } from "../host/linux/files/state-directories.ts";
import { linuxHost } from "../host/linux/linux-host.ts";
import { allTiers } from "../host/linux/mount-table/linux-mount-table.ts";
import { makePrefixes } from "../host/linux/path/prefixes.ts";
import { memoryReturner } from "../host/linux/syscall/give-back-memory.ts";
import { type Libc, loadLibc } from "../host/linux/syscall/libc.ts";
import { tryLock } from "../host/linux/syscall/lock.ts";
import { seLinuxEnabled } from "../host/linux/syscall/proc.ts";
import { startHealthServer } from "../http/health-server.ts";
import { registerRoleMetrics } from "../http/role-metrics.ts";
import { createKubeClient } from "../kube/client/client.ts";
import { createRealTransport } from "../kube/client/real-transport.ts";
import type { Logger, System } from "../ports.ts";
import { aborted, realSystem } from "../system.ts";
import { version } from "../version.ts";
import type { Agent, AgentDeps } from "./agent.ts";
import { inOwnNameOnly } from "./content/own-name-only.ts";
import { LateDrivers } from "./drivers/late-drivers.ts";
import { Debounce } from "./health/debounce.ts";
import { HealthChecks } from "./health/health-checks.ts";
import { pause } from "./journal/pause.ts";
import type { Plan } from "./model/volume-plan.ts";
import { startAgent } from "./start.ts";

const lockRetryMs = 1_000;
/**
 * How long nothing must have changed before unused memory is returned to the kernel, in milliseconds: not in a pause of
 * a burst.
 */
const quietMs = 10_000;

/**
 * The role `agent` in a real process: acquires the node's lock, starts the agent, and ends when `signal` is aborted.
 * Problems that can be repaired while it waits (a full disk, another agent) do not end it: /readyz reports them.
 */
export async function runAgent(config: AgentConfig, log: Logger, signal: AbortSignal): Promise<void> {
  process.umask(0o022);
  const libc = loadLibc();
  libc.leaveNoCores();
  preparePrefixes(config.allowedPrefixes, log);
  const system = realSystem(log);
  const healthChecks = new HealthChecks(system.clock);
  const registry = new Registry();
  registerRoleMetrics(registry, "agent", config);
  const health = await startHealthServer({
    address: config.metricsAddress,
    registry,
    notReady: () => healthChecks.notReady(),
    remark: () => healthChecks.remark(),
    unhealthy: () => healthChecks.unhealthy(),
    log,
  });
  let ranBefore: boolean | undefined;
  const locked = await takeNode(system, healthChecks, signal, () => {
    const found = prepareStateDirectories(libc, config.stateDir);
    ranBefore ??= found; // what later tries find is of this process itself
    return tryLock(libc, `${config.stateDir}/lock`);
  });
  if (locked) await serveNode(config, { system, libc, healthChecks, registry, signal, ranBefore: ranBefore !== false });
  await health.stop();
}

interface Process extends Pick<AgentDeps, "system" | "registry"> {
  readonly libc: Libc;
  readonly healthChecks: HealthChecks;
  readonly signal: AbortSignal;
  /** Whether an agent ran on this node before. */
  readonly ranBefore: boolean;
}

/** Runs the agent of the node whose lock this process has, until `signal` is aborted. */
async function serveNode(config: AgentConfig, { libc, ranBefore, ...parts }: Process): Promise<void> {
  const { system, healthChecks, registry, signal } = parts;
  const { nodeName, allowedPrefixes, hostRoot, stateDir, csiDir, kubeletDir, flexVolumeDir } = config;
  const { controllerAttachDetach } = config;
  const nodeProcess = processOfNode(config.hostPid, system.log);
  const place = { stateDir, ranBefore, ...nodeProcess };
  const mountTiers = config.features.KernelMountTable ? allTiers : (["mountinfo"] as const);
  const about = { hostRoot, flocker: config.flocker, childCommand: childCommand(), mountTiers };
  const host = linuxHost({ ...place, ...about, system, libc });
  const inAnyName = await createRealTransport({
    system,
    access: config.api,
    userAgent: `nodevolume-agent/${version}`,
  });
  const transport = config.features.ReadAsNode ? inAnyName : inOwnNameOnly(inAnyName);
  const paths = { allowedPrefixes, stateDir, hostRoot, csiDir, kubeletDir, flexVolumeDir };
  const settings = { ...paths, seLinux: seLinuxEnabled(), controllerAttachDetach };
  const quiet = new Debounce(system, quietMs, memoryReturner());
  const onPlan = ({ changed }: Plan) => changed.size > 0 && quiet.note();
  const drivers = driversOf(config, { system, libc, metrics: registry });
  const deps = {
    ...{ system, transport, host, drivers, nodeName, version, settings, registry, healthChecks, signal, onPlan },
    intents: config.intents,
    reapGraceMs: config.reapOrphansGracePeriodMs,
    watchPolicy: true,
    acceptedPolicies: config.acceptedPolicies,
  };
  const agent = await startAgent(deps);
  const pods = podDriverOf(config, { ...deps, agent, libc });
  await aborted(signal);
  quiet.stop();
  await pods?.end();
  drivers.stop();
  await agent.stop(); // what runs may go on: the lock goes with the process
  host.close();
}

/** The CSI drivers that register on this node. Their directory is made, closed to others, once one has. */
function driversOf(config: AgentConfig, { system, libc, metrics }: { system: System; libc: Libc; metrics: Registry }) {
  const { csiDir, csiRegistrationDir: directory, hostRoot } = config;
  const sockets = linuxSockets(system.timers);
  return new LateDrivers({
    system,
    sockets,
    directory,
    async load() {
      prepareCSIDirectory(libc, csiDir);
      const { startDrivers } = await import("./drivers/start-drivers.ts");
      return startDrivers({ system, sockets, directory, hostRoot, metrics });
    },
  });
}

interface PodDriverParts extends Pick<AgentDeps, "system" | "transport" | "nodeName" | "version" | "registry"> {
  readonly agent: Agent;
  readonly libc: Libc;
  readonly healthChecks: HealthChecks;
}

/** The driver for pods; none if this node shall serve no pods, and then nothing is left of an earlier agent's. */
function podDriverOf(config: AgentConfig, { agent, libc, transport, ...parts }: PodDriverParts) {
  const { csiDir, csiRegistrationDir: registrationDir, kubeletDir } = config;
  if (!config.pods) {
    withdrawPodDriver(csiDir, registrationDir);
    return undefined;
  }
  const client = createKubeClient({ transport, fieldManager: fieldManager.agent });
  const { system, nodeName, version, registry, healthChecks } = parts;
  return new LatePodDriver({
    system,
    directory: registrationDir,
    async load() {
      prepareCSIDirectory(libc, csiDir);
      const { startPodDriver } = await import("./drivers/start-pod-driver.ts");
      const places = { csiDir, registrationDir, kubeletDir };
      const about = { system, nodeName, version, registry, healthChecks, client };
      return startPodDriver({ ...about, ...places, volumes: agent.podVolumes, ready: () => agent.ready() });
    },
  });
}

/**
 * Acquires the node's lock. Only one agent of a node may act: a second one waits, and reports which process holds the
 * lock.
 * @returns false if `signal` came first
 */
async function takeNode(
  system: System,
  healthChecks: HealthChecks,
  signal: AbortSignal,
  attempt: () => ReturnType<typeof tryLock>,
): Promise<boolean> {
  for (let told = ""; !signal.aborted; ) {
    const waiting = obstacle(attempt);
    healthChecks.missing("lock", waiting);
    if (waiting === undefined) return true;
    if (told !== waiting)
      system.log.warn("waiting to acquire the node lock held by another agent process", { reason: waiting });
    told = waiting;
    await pause(system, lockRetryMs, signal);
  }
  return false;
}

function obstacle(attempt: () => ReturnType<typeof tryLock>): string | undefined {
  try {
    const result = attempt();
    return "release" in result ? undefined : `another agent has this node: ${result.holder}`;
  } catch (error) {
    return `the state directory cannot be used: ${messageOf(error)}`;
  }
}

/** @throws ConfigError if a prefix is a link */
function preparePrefixes(prefixes: readonly string[], log: Logger): void {
  try {
    makePrefixes(prefixes, log);
  } catch (error) {
    throw error instanceof VolumeError ? new ConfigError(error.message) : error;
  }
}

/** A process whose mount table is the node's; none if it is the agent's own. */
function processOfNode(pid: number, log: Logger): { nodeProcess?: number } {
  try {
    const same = readlinkSync(`/proc/${pid}/ns/mnt`) === readlinkSync("/proc/self/ns/mnt");
    return same ? {} : { nodeProcess: pid };
  } catch (error) {
    log.warn("cannot read the mount table of the node: mounts are not compared with it", {
      pid,
      error: messageOf(error),
    });
    return {};
  }
}

/** The command line of this same program in the role `child`. */
function childCommand(): readonly [string, ...string[]] {
  const program = process.argv[1];
  if (program === undefined) throw new Error("the program's own path is not known");
  return [process.execPath, ...process.execArgv, program, "child"];
}
