import { execFileSync } from "node:child_process";
import { readFileSync, statSync } from "node:fs";
import { deviceNumberOf } from "../../../../src/host/linux/syscall/block-device.ts";

export interface ShownSwap {
  /** As the kernel shows it, which may be another name of the device: `/dev/mapper/…`. */
  readonly path: string;
  readonly bytes: number;
  readonly priority: number;
}

/** What the kernel swaps to, by `major:minor`. */
function swaps(): ReadonlyMap<string, ShownSwap> {
  const rows = readFileSync("/proc/swaps", "utf8").trim().split("\n").slice(1);
  return new Map(
    rows.map((row) => {
      const [path = "", , size, , priority] = row.split(/\s+/);
      return [numberOf(path), { path, bytes: Number(size) * 1024, priority: Number(priority) }];
    }),
  );
}

const numberOf = (path: string) => deviceNumberOf(statSync(path));

/** How the kernel swaps to a device; undefined if it does not. */
export function swapOn(device: string): ShownSwap | undefined {
  return swaps().get(numberOf(device));
}

/** UUID of the swap area on a device; another one is another area. */
export function areaOn(device: string): string {
  return execFileSync("blkid", ["-p", "-s", "UUID", "-o", "value", device], { encoding: "utf8" }).trim();
}

/** Swap that a test turns on, or has turned on, goes with it in any case: it is the whole machine's. */
export function swapGoesWith<T extends { readonly path: string } & Disposable>(device: T): T & Disposable {
  const off = () => {
    if (swapOn(device.path) !== undefined) execFileSync("swapoff", [device.path]);
    device[Symbol.dispose]();
  };
  return { ...device, [Symbol.dispose]: off };
}

/** The same of swap that a journal speaks of. */
export function turnOffSwapIn(journal: string): void {
  for (const [number, { path }] of swaps()) {
    if (journal.includes(`"deviceNumber":"${number}"`)) execFileSync("swapoff", [path]);
  }
}
