import { VolumeError } from "../../../errors.ts";
import { unescapeOctal } from "../../mount-table/mountinfo.ts";
import type { ProgramResult } from "../../ports/programs.ts";
import type { Swap, SwapHow } from "../../ports/swaps.ts";
import { outputExcerpt } from "../child/output-excerpt.ts";

/**
 * Of the kernels that there are: an area is of pages as large as those of the node's that made it (arm64 has three).
 */
const pageSizes = [4096, 16_384, 65_536];
const deleted = " (deleted)";

/** PURE. Devices of /proc/swaps (proc_swaps(5)): a path, then numbers in KiB. */
export function parseSwaps(text: string): readonly Swap[] {
  const rows = text.split("\n").slice(1);
  return rows.flatMap((row): Swap[] => {
    const [name = "", type, size, used, priority] = row.split(/\s+/);
    if (type !== "partition") return [];
    const shown = unescapeOctal(name);
    const path = shown.endsWith(deleted) ? shown.slice(0, -deleted.length) : shown;
    const bytes = (kibi: string | undefined) => Number(kibi) * 1024;
    return [{ path, sizeBytes: bytes(size), usedBytes: bytes(used), priority: Number(priority) }];
  });
}

/** PURE. What is said to swapon(8); busybox takes the same. */
export function swapOnArgs({ priority, discard }: SwapHow): string[] {
  return [
    ...(priority === undefined ? [] : ["-p", String(priority)]),
    ...(discard === undefined ? [] : [discard === "both" ? "-d" : `-d${discard}`]),
  ];
}

/** PURE. What became of a swapon or swapoff that failed. */
export function swapFailure(program: "swapon" | "swapoff", path: string, result: ProgramResult): VolumeError {
  const words = outputExcerpt(result.stderr || result.stdout);
  const on = { kind: "Device", name: path };
  if (program === "swapoff" && (result.code === outOfMemory || /cannot allocate memory/i.test(words))) {
    const message = `the node does not have the memory to turn off the swap on ${path}: end or move processes, or turn other swap on. It stays on, and is retried`;
    return new VolumeError("SwapNeeded", "transient", message, { on });
  }
  if (/busy/i.test(words)) return new VolumeError("DeviceBusy", "transient", `${path} is in use: ${words}`, { on });
  const reason = program === "swapon" ? "SetUpFailed" : "TearDownFailed";
  return new VolumeError(reason, "transient", `${program} ${path} ended with ${result.code}: ${words}`, { on });
}

/** Exit code of swapoff(8), since util-linux 2.36. */
const outOfMemory = 2;

/**
 * PURE. Bytes of the swap area that begins a device, its header included; undefined if there is none.
 * (include/linux/swap.h: union swap_header)
 */
export function swapBytes(head: Buffer): number | undefined {
  const magicEnds = (at: number) => head.length >= at && head.toString("latin1", at - 10, at) === "SWAPSPACE2";
  const pageBytes = pageSizes.find(magicEnds);
  return pageBytes && (head.readUInt32LE(1028) + 1) * pageBytes;
}
