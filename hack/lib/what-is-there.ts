// What a test that waited in vain can see of the machine: the processes of its sandbox, and its mounts.
import { readdirSync, readFileSync } from "node:fs";

/** Lines of each kind: the newest are those of the test. */
const most = 12;

/** One line for each of the newest processes of this PID namespace, and of the newest mounts. */
export function whatIsThere(): string[] {
  return [...processes(), ...mounts()];
}

function processes(): string[] {
  const pids = readdirSync("/proc").filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid);
  return pids
    .sort((a, b) => Number(b) - Number(a))
    .slice(0, most)
    .flatMap((pid) => {
      try {
        const state = /^State:\t(.*)$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
        const command = readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0").join(" ").trim().slice(0, 120);
        return [`process ${pid}: ${state}, in ${wchan(pid)}: ${command}`];
      } catch {
        return []; // ended while we looked
      }
    });
}

function wchan(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/wchan`, "utf8") || "user space";
  } catch {
    return "a place that cannot be read";
  }
}

function mounts(): string[] {
  const lines = readFileSync("/proc/self/mountinfo", "utf8").trimEnd().split("\n");
  return [`${lines.length} mounts, the last of them:`, ...lines.slice(-most)];
}
