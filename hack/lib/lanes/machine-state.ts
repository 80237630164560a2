// What a run of the tests must leave as it was, of the whole machine; what each lane leaves is asked for by leftovers.ts.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join, relative } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { testDeadline } from "../test-deadline.ts";
import { isOfAnother, lookForTraces } from "./leftovers.ts";

/** Entries by kind, each a line that names what is there and how it is. */
export type MachineState = ReadonlyMap<string, ReadonlySet<string>>;

/** Writable settings of the kernel that change by themselves, or with any process. */
const restless =
  /^(kernel\/(ns_last_pid|random\/|sched_domain\/|core_pattern$)|fs\/binfmt_misc\/|net\/ipv[46]\/route\/)/;

export function machineState(): MachineState {
  const { loops, cgroups } = lookForTraces();
  return new Map([
    ["package", new Set(packages())],
    ["mount", new Set(readFileSync("/proc/self/mountinfo", "utf8").trimEnd().split("\n"))],
    ["loop device", new Set(loops.filter((loop) => !isOfAnother(loop, "")))],
    ["cgroup", new Set(cgroups)],
    ["kernel setting", new Set(sysctls())],
    ["kernel module", new Set(modules())],
    ["network interface", new Set(readdirSync("/sys/class/net"))],
  ]);
}

/** As changesOf, looked at until there is none: the kernel clears some things a moment after their last user. */
export async function changesSince(before: MachineState): Promise<string[]> {
  const deadline = performance.now() + testDeadline(5_000);
  for (;;) {
    const changes = changesOf(before, machineState());
    if (changes.length === 0 || performance.now() > deadline) return changes;
    await sleep(500);
  }
}

/** One line for each entry that came or went. */
export function changesOf(before: MachineState, after: MachineState): string[] {
  return [...after].flatMap(([kind, now]) => {
    const was = before.get(kind) ?? new Set<string>();
    return [
      ...[...now].filter((entry) => !was.has(entry)).map((entry) => `${kind} came: ${entry}`),
      ...[...was].filter((entry) => !now.has(entry)).map((entry) => `${kind} went: ${entry}`),
    ];
  });
}

/** With version and state; none where there is no dpkg. Its lists of what could be installed count, too. */
function packages(): string[] {
  const format = ["-Wf", "$" + "{Package} $" + "{Architecture} $" + "{Version} $" + "{Status}\\n"];
  const { stdout } = spawnSync("dpkg-query", format, { encoding: "utf8", maxBuffer: 2 ** 26 });
  const lists = existsSync("/var/lib/apt/lists") ? readdirSync("/var/lib/apt/lists") : [];
  return [...(stdout ?? "").trimEnd().split("\n"), ...lists.map((name) => `list ${name}`)];
}

function sysctls(): string[] {
  const base = "/proc/sys";
  return readdirSync(base, { recursive: true, withFileTypes: true })
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => !restless.test(relative(base, path)))
    .flatMap((path) => {
      try {
        const stat = statSync(path);
        if (!stat.isFile() || (stat.mode & 0o200) === 0 || (stat.mode & 0o400) === 0) return [];
        return [`${relative(base, path)} = ${shown(readFileSync(path))}`];
      } catch {
        return []; // some can only be written, or are of an interface that went
      }
    });
}

function shown(value: Buffer): string {
  const text = value.toString("latin1").trim();
  return text.length <= 80 ? text : `sha256:${createHash("sha256").update(value).digest("hex")}`;
}

function modules(): string[] {
  if (!existsSync("/proc/modules")) return [];
  const lines = readFileSync("/proc/modules", "utf8").trimEnd().split("\n");
  return lines.map((line) => line.split(" ")[0] ?? "");
}
