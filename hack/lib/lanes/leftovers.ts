// What a lane may have left behind, seen from outside its sandbox.
import { spawnSync } from "node:child_process";
import { existsSync, globSync, readdirSync, readFileSync, readlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { cgroupOf, cgroupsThere } from "../kubelet-node/cgroups.ts";
import { root } from "../root.ts";
import { runVariable } from "../sandbox/outside.ts";
import { slowness } from "../test-deadline.ts";

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
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .flatMap((pid) => {
      try {
        if (!marked(pid, runId)) return [];
        return [`process ${pid}: ${readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0").join(" ").slice(0, 120)}`];
      } catch {
        return []; // ended while we looked
      }
    });
}

/**
 * Whether a loop device is of another run that goes on: its file lies on a file system that a process of another run
 * has mounted, and we do not; or on one of ours, in the checkout of another run; or it is another such loop device.
 * Where that cannot be told it counts as ours.
 */
export function isOfAnother(entry: string, runId: string): boolean {
  const [, beneath] = /^(?:\/dev)?\/(loop\d+)$/.exec(fileOf(entry)) ?? [];
  if (beneath !== undefined) return isOfAnother(`loop device ${beneath}`, runId);
  const device = fileSystemOf(entry.replace("loop device ", "/dev/"));
  if (device === undefined) return false;
  if (has("self", device)) return isElsewhere(fileOf(entry));
  const seen = new Set<string>();
  return readdirSync("/proc").some((pid) => {
    if (!/^\d+$/.test(pid)) return false;
    try {
      const namespace = readlinkSync(`/proc/${pid}/ns/mnt`);
      if (seen.has(namespace) || marked(pid, runId)) return false;
      seen.add(namespace);
      return has(pid, device);
    } catch {
      return false; // ended while we looked
    }
  });
}

/** Whether a file lies in another checkout than ours. An empty path is that of a loop device that has gone. */
function isElsewhere(file: string): boolean {
  if (file === "") return true;
  if (file.startsWith(`${root}/`)) return false;
  for (let folder = dirname(file); folder !== "/"; folder = dirname(folder))
    if (existsSync(join(folder, "hack/lib/lanes"))) return true;
  return false;
}

/** Path of the file of a loop device; empty if the device has gone meanwhile. */
function fileOf(entry: string): string {
  const path = `/sys/block/${entry.replace("loop device ", "")}/loop/backing_file`;
  return existsSync(path) ? readFileSync(path, "utf8").trim() : "";
}

/** `major:minor` of what the file of a loop device lies on; undefined if the device has none any more. */
function fileSystemOf(loop: string): string | undefined {
  const { stdout } = spawnSync("losetup", ["--noheadings", "-O", "BACK-MAJ:MIN", loop], { encoding: "utf8" });
  return /\d+:\d+/.exec(stdout ?? "")?.[0];
}

function has(pid: string, device: string): boolean {
  return readFileSync(`/proc/${pid}/mountinfo`, "utf8").includes(` ${device} `);
}

function marked(pid: string, runId: string): boolean {
  return readFileSync(`/proc/${pid}/environ`, "latin1").split("\0").includes(`${runVariable}=${runId}`);
}

/**
 * What is there after a run that was not there before. The kernel clears a loop device a moment after its last user: so
 * it is looked at again until nothing is left, for at most `patienceMs`.
 * @param mayBe whether an entry may be of the run
 */
export async function leftoversOf(
  runId: string,
  before: Traces,
  patienceMs = 5_000 * slowness(),
  mayBe = (_entry: string) => true,
): Promise<string[]> {
  const deadline = performance.now() + patienceMs;
  for (;;) {
    const now = lookForTraces();
    // Cgroups are the machine's: those of another run are somebody else's who tests beside us.
    const loops = now.loops.filter((entry) => before.loops.includes(entry) || !isOfAnother(entry, runId));
    const ours = { ...now, loops, cgroups: now.cgroups.filter((entry) => entry.endsWith(cgroupOf(runId))) };
    const fresh = kinds.flatMap((kind) => ours[kind].filter((entry) => !before[kind].includes(entry) && mayBe(entry)));
    const left = [...processesOf(runId), ...fresh];
    if (left.length === 0 || performance.now() > deadline) return left;
    await sleep(100);
  }
}
