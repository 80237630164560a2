import { execFileSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { Registry } from "prom-client";
import { Debounce } from "../../../src/agent/health/debounce.ts";
import type { Plan } from "../../../src/agent/model/volume-plan.ts";
import { type Agent, startAgent } from "../../../src/agent/start.ts";
import { LinuxJournalFile } from "../../../src/host/linux/files/linux-journal-file.ts";
import { prepareStateDirectories } from "../../../src/host/linux/files/state-directories.ts";
import { type LinuxHost, linuxHost } from "../../../src/host/linux/linux-host.ts";
import { memoryReturner } from "../../../src/host/linux/syscall/give-back-memory.ts";
import { loadLibc } from "../../../src/host/linux/syscall/libc.ts";
import type { Logger } from "../../../src/ports.ts";
import { realSystem } from "../../../src/system.ts";
import type { FakeApi } from "../../lib/agent-on-kernel/fake-api.ts";
import { noDrivers } from "../../lib/no-drivers.ts";
import { nodeName, type Place } from "./intents.ts";

const quietMs = 10_000;

/** Directories of one benchmark. */
export interface Workplace extends Place {
  /** On the disk that the journal is synced to. */
  readonly path: string;
  readonly stateDir: string;
}

export function workplaceAt(path: string): Workplace {
  const memory = join(path, "memory");
  return { path, stateDir: join(memory, "state"), prefix: join(memory, "mnt"), sources: join(memory, "src") };
}

/**
 * Makes the directories, in memory but for the journal: those of the peer are, too, and ext4 takes a millisecond to
 * make a directory where hundreds were removed within the last seconds, as no node but a benchmark does. The prefix is
 * a shared mount, as it is in the DaemonSet.
 */
export function prepare({ path, stateDir, prefix, sources }: Workplace): void {
  const memory = join(path, "memory");
  mkdirSync(memory);
  execFileSync("mount", ["-t", "tmpfs", "-o", "mode=0755", "bench", memory]);
  for (const directory of [stateDir, prefix, sources]) mkdirSync(directory, { recursive: true });
  execFileSync("mount", ["--bind", prefix, prefix]);
  execFileSync("mount", ["--make-shared", prefix]);
}

/**
 * The agent as production has it, on the real kernel of this mount namespace, but for the API server.
 * @param adapt may count what is asked of the host before the agent has it
 */
export async function startNode(
  place: Workplace,
  api: FakeApi,
  onPlan: (plan: Plan) => void = () => {},
  adapt: (host: LinuxHost) => void = () => {},
): Promise<Agent> {
  const libc = loadLibc();
  const system = realSystem(silent);
  const { stateDir, prefix } = place;
  const ranBefore = prepareStateDirectories(libc, stateDir);
  const main = join(dirname(process.argv[1] ?? ""), "main.cjs");
  const childCommand = [process.execPath, main, "child"] as const;
  const linux = linuxHost({ stateDir, ranBefore, childCommand, system, libc });
  const host = { ...linux, journal: new LinuxJournalFile(join(place.path, "journal"), ranBefore) };
  adapt(host);
  const settings = { allowedPrefixes: [prefix], stateDir, hostRoot: "/", csiDir: `${stateDir}/csi` };
  const registry = new Registry();
  const quiet = new Debounce(system, quietMs, memoryReturner()); // as the role agent has it
  const told = (plan: Plan) => {
    if (plan.changed.size > 0) quiet.note();
    onPlan(plan);
  };
  return startAgent({
    system,
    transport: api,
    host,
    drivers: noDrivers,
    nodeName,
    version: "bench",
    settings,
    registry,
    onPlan: told,
  });
}

/** Warnings and errors go to stderr: a benchmark of failures would be none. The peer's log is discarded, too. */
const silent: Logger = {
  debug() {},
  info() {},
  warn: (message, meta) => process.stderr.write(`warn ${message} ${JSON.stringify(meta)}\n`),
  error: (message, meta) => process.stderr.write(`error ${message} ${JSON.stringify(meta)}\n`),
  child: () => silent,
};
