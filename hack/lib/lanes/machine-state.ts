// What a run of the tests must leave as it was, of the whole machine. What each lane leaves, cgroups and network
// interfaces among it, is asked for by leftovers.ts, which tells them from those of others.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, globSync, readdirSync, readFileSync, readlinkSync, statSync } from "node:fs";
import { join, relative } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { root } from "../root.ts";
import { slowness } from "../test-deadline.ts";
import { cacheDirectory } from "../tools/tool.ts";
import { isOfAnother, lookForTraces } from "./leftovers.ts";

/** Entries by kind, each a line that names what is there and how it is. */
export type MachineState = ReadonlyMap<string, ReadonlySet<string>>;

/** Writable settings of the kernel that change by themselves, or with any process. */
const restless =
  /^(kernel\/(ns_last_pid|perf_event_max_sample_rate|random\/|sched_domain\/|tainted)|fs\/binfmt_misc\/|net\/ipv[46]\/(conf|neigh|route)\/)/;

export function machineState(): MachineState {
  const { loops } = lookForTraces();
  return new Map([
    ["package", new Set(packages())],
    ["mount", new Set(mounts())],
    ["loop device", new Set(loops.filter((loop) => !isOfAnother(loop, "")))],
    ["kernel setting", new Set(sysctls())],
    ["kernel module", new Set(modules())],
    ["process", new Set(processes())],
  ]);
}

/** As changesOf, looked at until there is none: the kernel clears some things a moment after their last user. */
export async function changesSince(before: MachineState): Promise<string[]> {
  const deadline = performance.now() + 5_000 * slowness();
  for (;;) {
    const changes = changesOf(before, machineState());
    if (changes.length === 0 || performance.now() > deadline) return changes;
    await sleep(500);
  }
}

/** Kinds of which people have some of their own, and end them when they like: what goes is not ours. */
const ofOthers: readonly string[] = ["loop device", "process"];

/** One line for each entry that came or went. */
export function changesOf(before: MachineState, after: MachineState): string[] {
  return [...after].flatMap(([kind, now]) => {
    const was = before.get(kind) ?? new Set<string>();
    return [
      ...[...now].filter((entry) => !was.has(entry)).map((entry) => `${kind} came: ${entry}`),
      ...(ofOthers.includes(kind)
        ? []
        : [...was].filter((entry) => !now.has(entry)).map((entry) => `${kind} went: ${entry}`)),
    ];
  });
}

/** Those of people who log in meanwhile are not ours. */
function mounts(): string[] {
  const lines = readFileSync("/proc/self/mountinfo", "utf8").trimEnd().split("\n");
  return lines.filter((line) => !/ \/run\/user\//.test(line));
}

/** With version and state; none where there is no dpkg. Its lists of what could be installed count, too. */
function packages(): string[] {
  const format = ["-Wf", "$" + "{Package} $" + "{Architecture} $" + "{Version} $" + "{Status}\\n"];
  const { stdout } = spawnSync("dpkg-query", format, { encoding: "utf8", maxBuffer: 2 ** 26 });
  const lists = existsSync("/var/lib/apt/lists") ? readdirSync("/var/lib/apt/lists") : [];
  return [...(stdout ?? "").trimEnd().split("\n"), ...lists.map((name) => `list ${name}`)];
}

/** Processes that run programs of this checkout or of the tool cache, and are nobody's child any more. */
function processes(): string[] {
  const folders = [root, cacheDirectory(process.env)];
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      try {
        const program = readlinkSync(`/proc/${pid}/exe`);
        const parent = /^PPid:\t(\d+)$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
        const isOurs = folders.some((folder) => program.startsWith(`${folder}/`));
        return parent === "1" && isOurs && Number(pid) !== process.pid ? [`${pid} ${program}`] : [];
      } catch {
        return []; // ended while we looked
      }
    });
}

function sysctls(): string[] {
  const base = "/proc/sys";
  return globSync("**", { cwd: base })
    .map((name) => join(base, name))
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
