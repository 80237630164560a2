import { readdirSync, readFileSync } from "node:fs";
import { isBeneath } from "../../mount-table/mount-table.ts";
import { unescapeOctal } from "../../mount-table/mountinfo.ts";
import type { Blocker } from "../../ports/holder.ts";
import { ifThere } from "../syscall/if-there.ts";

/**
 * What the kernel itself has open beneath a mount point, for no process: swap files, and files that are loop devices.
 */
export function kernelUsersOf(mountPoint: string): readonly Blocker[] {
  const swaps = lines("/proc/swaps")
    .slice(1)
    .flatMap((line): Blocker[] => {
      const path = unescapeOctal(line.split(/\s/, 1)[0] ?? "");
      return isBeneath(path, mountPoint) ? [{ kind: "Swap", name: path }] : [];
    });
  const loops = entries("/sys/block")
    .filter((name) => name.startsWith("loop"))
    .flatMap((name): Blocker[] => {
      const [file] = lines(`/sys/block/${name}/loop/backing_file`);
      if (file === undefined || !isBeneath(file, mountPoint)) return [];
      return [{ kind: "LoopDevice", name: `/dev/${name}`, detail: file }];
    });
  return [...swaps, ...loops];
}

function lines(path: string): string[] {
  return (ifThere(() => readFileSync(path, "utf8")) ?? "").split("\n").filter((line) => line !== "");
}

function entries(path: string): string[] {
  return ifThere(() => readdirSync(path)) ?? [];
}
