import { mkdirSync, readlinkSync, realpathSync } from "node:fs";
import { Registry } from "prom-client";
import { type AgentConfig, ConfigError } from "../config.ts";
import { messageOf } from "../errors.ts";
import { startHealthServer } from "../health-server.ts";
import { loadLibc } from "../host/linux/libc.ts";
import { linuxHost } from "../host/linux/linux-host.ts";
import { tryLock } from "../host/linux/lock.ts";
import { createRealTransport } from "../kube/real-transport.ts";
import type { Logger, System } from "../ports.ts";
import { realSystem } from "../system.ts";
import { version } from "../version.ts";
import { startAgent } from "./start.ts";

const lockRetryMs = 1_000;

/** The role `agent` in a real process: takes the node's lock, starts the agent, ends when `signal` says so. */
export async function runAgent(config: AgentConfig, log: Logger, signal: AbortSignal): Promise<void> {
  process.umask(0o022);
  refuseLinks(config.allowedPrefixes);
  mkdirSync(config.stateDir, { recursive: true, mode: 0o700 });
  const system = realSystem(log);
  const registry = new Registry();
  let ready = () => false;
  const health = await startHealthServer({ address: config.metricsAddress, registry, ready: () => ready(), log });
  const libc = loadLibc();
  const lock = await waitForLock(system, () => tryLock(libc, `${config.stateDir}/lock`), signal);
  if (lock !== undefined) {
    const { stateDir } = config;
    const nodeProcess = processOfNode(config.hostPid, log);
    const host = linuxHost({ stateDir, childCommand: childCommand(), timers: system.timers, libc, ...nodeProcess });
    const transport = await createRealTransport({
      system,
      access: config.api,
      userAgent: `nodevolume-agent/${version}`,
    });
    const { nodeName, allowedPrefixes, hostRoot } = config;
    const settings = { allowedPrefixes, stateDir, hostRoot };
    const agent = await startAgent({ system, transport, host, nodeName, version, settings, registry });
    ready = () => agent.ready();
    await aborted(signal);
    await agent.stop(); // what runs may go on: the lock goes with the process
  }
  await health.stop();
}

/** Only one agent of a node may act: a second one waits, and says for whom. */
async function waitForLock(
  { timers, log }: System,
  attempt: () => ReturnType<typeof tryLock>,
  signal: AbortSignal,
): Promise<{ release(): void } | undefined> {
  for (let told = ""; !signal.aborted; ) {
    const result = attempt();
    if ("release" in result) return result;
    if (told !== result.holder)
      log.warn("another agent has this node: waiting for it to end", { holder: result.holder });
    told = result.holder;
    await new Promise<void>((resolve) => {
      timers.after(lockRetryMs, resolve);
    });
  }
  return undefined;
}

/** The mount table names real paths: a prefix that is a link would never be found in it. */
function refuseLinks(prefixes: readonly string[]): void {
  for (const prefix of prefixes) {
    mkdirSync(prefix, { recursive: true, mode: 0o755 });
    const real = realpathSync(prefix);
    if (real !== prefix) throw new ConfigError(`--allowed-prefix: ${prefix} is a symbolic link, name ${real}`);
  }
}

/** A process to read the node's mount table from; none if that is the agent's own. */
function processOfNode(pid: number, log: Logger): { nodeProcess?: number } {
  try {
    const same = readlinkSync(`/proc/${pid}/ns/mnt`) === readlinkSync("/proc/self/ns/mnt");
    return same ? {} : { nodeProcess: pid };
  } catch (error) {
    log.warn("what the node sees is not compared: its mount table cannot be read", { pid, error: messageOf(error) });
    return {};
  }
}

/** This very program, in the role `child`. */
function childCommand(): readonly [string, ...string[]] {
  const program = process.argv[1];
  if (program === undefined) throw new Error("the program's own path is not known");
  return [process.execPath, ...process.execArgv, program, "child"];
}

function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
}
