// What a lane may have left behind, seen from outside its sandbox.
import { existsSync, globSync, readdirSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { cgroupOf, cgroupsThere } from "../kubelet-node/cgroups.ts";
import { runVariable } from "../sandbox/outside.ts";

export interface Traces {
  readonly loops: readonly string[];
  readonly mounts: readonly string[];
  readonly files: readonly string[];
  readonly cgroups: readonly string[];
  readonly network: readonly string[];
}

/** What is compared, each in words of its own. */
const kinds = ["loops", "mounts", "files", "cgroups", "network"] as const;

/** Where a careless test would leave its files; /tmp and /mnt are the sandbox's own. */
const temporary = ["/var/tmp", "/run"];

export function lookForTraces(): Traces {
  return {
    // Not in /sys/block: its entries are links, which globSync does not follow.
    loops: globSync("/sys/devices/virtual/block/loop*/loop/backing_file").map((f) => `loop device ${f.split("/")[5]}`),
    mounts: readFileSync("/proc/self/mountinfo", "utf8")
      .split("\n")
      .filter((line) => /nodevolume/.test(line)),
    files: temporary
      .filter((d) => existsSync(d))
      .flatMap((d) =>
        readdirSync(d)
          .filter((name) => /nodevolume|^nvo/.test(name))
          .map((name) => `${d}/${name}`),
      ),
    cgroups: cgroupsThere().map((path) => `cgroup ${path}`),
    network: readdirSync("/sys/class/net").map((name) => `network interface ${name}`),
  };
}

/** Processes that carry the run's id in their environment. */
export function processesOf(runId: string): string[] {
  const mark = `${runVariable}=${runId}`;
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .flatMap((pid) => {
      try {
        if (!readFileSync(`/proc/${pid}/environ`, "latin1").split("\0").includes(mark)) return [];
        return [`process ${pid}: ${readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0").join(" ").slice(0, 120)}`];
      } catch {
        return []; // ended while we looked
      }
    });
}

/**
 * What is there after a run that was not there before. The kernel clears a loop device a moment after its last user: so
 * it is looked at again until nothing is left, for at most `patienceMs`.
 */
export async function leftoversOf(runId: string, before: Traces, patienceMs = 5_000): Promise<string[]> {
  const deadline = performance.now() + patienceMs;
  for (;;) {
    const now = lookForTraces();
    // Cgroups are the machine's: those of another run are somebody else's who tests beside us.
    const ours = { ...now, cgroups: now.cgroups.filter((entry) => entry.endsWith(cgroupOf(runId))) };
    const fresh = kinds.flatMap((kind) => ours[kind].filter((entry) => !before[kind].includes(entry)));
    const left = [...processesOf(runId), ...fresh];
    if (left.length === 0 || performance.now() > deadline) return left;
    await sleep(100);
  }
}
