import { existsSync, readFileSync } from "node:fs";
import type { Libc } from "../../../src/host/linux/syscall/libc.ts";
import { MountTable } from "../../../src/host/mount-table/mount-table.ts";
import { parseMountinfo } from "../../../src/host/mount-table/mountinfo.ts";
import type { KernelCalls } from "../../sim/differential/kernel-calls.ts";
import type { SeededRandom } from "../../sim/random.ts";
import { type ChurnName, churnNames, churnOperations, type Told } from "./operations.ts";

/** Mounts beneath which nothing is added any more. */
const most = 60;

export interface ChurnStep {
  readonly name: ChurnName;
  /** An errno's name, if the kernel did not let it. */
  readonly failed?: string;
}

/** Random operations on the mounts beneath a directory. */
export class MountChurn {
  readonly #random: SeededRandom;
  readonly #calls: KernelCalls;
  readonly #libc: Libc;
  readonly #root: string;
  #directories: string[] = [];
  /** How often each operation was carried out, and refused. */
  readonly counts = new Map<ChurnName, { done: number; refused: number }>();

  constructor(random: SeededRandom, calls: KernelCalls, libc: Libc, root: string) {
    this.#random = random;
    this.#calls = calls;
    this.#libc = libc;
    this.#root = root;
  }

  /** Does something. @returns what the kernel tells of it */
  step(): ChurnStep & { readonly told: Told } {
    const table = new MountTable(parseMountinfo(readFileSync("/proc/self/mountinfo", "utf8")));
    const all = table.beneath(this.#root);
    const mounts = all.filter((mount) => mount.point !== this.#root && table.at(mount.point) === mount);
    this.#directories = this.#directories.filter((path) => existsSync(path));
    const name =
      all.length > most || this.#random.chance(all.length / most / 4)
        ? "unmountTree"
        : this.#random.chance(0.15)
          ? "makeDirectory"
          : this.#random.pick(churnNames);
    const count = this.counts.get(name) ?? { done: 0, refused: 0 };
    this.counts.set(name, count);
    const context = {
      random: this.#random,
      calls: this.#calls,
      libc: this.#libc,
      root: this.#root,
      mounts,
      directories: this.#directories,
    };
    const { told, run } = churnOperations[name];
    try {
      run(context);
      count.done += 1;
      return { name, told };
    } catch (error) {
      if (!(error instanceof Error && "code" in error)) throw error;
      count.refused += 1;
      return { name, told, failed: String(error.code) };
    }
  }
}
