// The machine that a benchmark ran on, and how much else it had to do: without it a figure says nothing.
import { readFileSync, statfsSync } from "node:fs";
import { cpus, loadavg, release } from "node:os";

export interface Noise {
  readonly cpus: number;
  readonly kernel: string;
  readonly node: string;
  /** Of the folder with journal and etcd. */
  readonly fileSystem: string;
  /** Of 1, 5 and 15 minutes. */
  readonly loadBefore: readonly number[];
  readonly loadAfter: readonly number[];
  /** Share of the processors' time that the hypervisor gave to others. */
  readonly stolen: number;
  /** What the same loop took, again and again. */
  readonly calibrationMs: readonly number[];
}

export interface NoiseMeter {
  /** To be called between two runs: takes about a twentieth of a second. */
  sample(): void;
  end(): Noise;
}

/** Meters from now on. @param directory that journal and etcd are in */
export function meterNoise(directory: string): NoiseMeter {
  const loadBefore = loadavg();
  const before = processorTimes();
  const calibrationMs: number[] = [];
  loop(); // compiles it
  return {
    sample: () => calibrationMs.push(loop()),
    end() {
      const after = processorTimes();
      return {
        cpus: cpus().length,
        kernel: release(),
        node: process.version,
        fileSystem: fileSystemOf(directory),
        loadBefore,
        loadAfter: loadavg(),
        stolen: (after.stolen - before.stolen) / Math.max(1, after.all - before.all),
        calibrationMs,
      };
    },
  };
}

const rounds = 20_000_000;

function loop(): number {
  const since = performance.now();
  let value = 1;
  for (let i = 0; i < rounds; i += 1) value = (value * 31 + i) | 0;
  const ms = performance.now() - since;
  // Uses the value, so that the loop is not left out.
  return value === 0 ? ms + Number.EPSILON : ms;
}

/** proc_stat(5): user nice system idle iowait irq softirq steal. */
function processorTimes(): { all: number; stolen: number } {
  const [, ...times] = (readFileSync("/proc/stat", "utf8").split("\n", 1)[0] ?? "").split(/\s+/).map(Number);
  return { all: times.slice(0, 8).reduce((sum, time) => sum + time, 0), stolen: times[7] ?? 0 };
}

/** Magic numbers of statfs(2). */
const fileSystems: { readonly [magic: number]: string } = {
  61267: "ext4",
  1481003842: "xfs",
  2435016766: "btrfs",
  16914836: "tmpfs",
  2035054128: "overlay",
};

function fileSystemOf(directory: string): string {
  const { type } = statfsSync(directory);
  return fileSystems[type] ?? `0x${type.toString(16)}`;
}
