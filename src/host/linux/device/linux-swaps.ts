import { readFileSync, statSync } from "node:fs";
import { basename } from "node:path";
import type { Cancel, System } from "../../../ports.ts";
import type { ProbedDevice } from "../../ports/block-layers.ts";
import type { Programs } from "../../ports/programs.ts";
import type { Swap, SwapHow, SwapSource, Swaps, SwapTable } from "../../ports/swaps.ts";
import { onNode, runOfNode } from "../child/node-tools.ts";
import { watchMountTable } from "../mount-table/mount-watch.ts";
import { attribute, deviceNumberOf } from "../syscall/block-device.ts";
import { ifThere } from "../syscall/errno.ts";
import { parseSwaps, swapFailure, swapOnArgs } from "./swap-commands.ts";

/** A kernel without swap has none of it. */
const file = "/proc/swaps";
const util = "util-linux, or mount";
/** How often is told how a swapoff goes on, in milliseconds: of what is left the kernel raises no event. */
const tellMs = 5_000;

/** What the kernel swaps to, by /proc/swaps. @param hostRoot the node's root as the agent sees it */
export class LinuxSwapSource implements SwapSource {
  readonly #hostRoot: string;

  constructor(hostRoot: string) {
    this.#hostRoot = hostRoot;
  }

  read(): SwapTable {
    const devices = new Map<string, Swap>();
    const lost: string[] = [];
    for (const swap of parseSwaps(ifThere(() => readFileSync(file, "utf8")) ?? "")) {
      const number = this.#numberOf(swap.path);
      if (number === undefined) lost.push(swap.path);
      else devices.set(number, swap);
    }
    return { devices, lost };
  }

  /** The kernel raises the same event as for mountinfo. */
  watch(onChange: () => void): Cancel {
    return ifThere(() => watchMountTable(file, undefined, onChange)) ?? (() => {});
  }

  /** By its node, or by the name that the kernel gives it, if that was removed. */
  #numberOf(path: string): string | undefined {
    const root = this.#hostRoot === "/" ? "" : this.#hostRoot;
    const stats = path.startsWith("/dev/") ? ifThere(() => statSync(`${root}${path}`)) : undefined;
    if (stats?.isBlockDevice()) return deviceNumberOf(stats);
    return attribute(`/sys/class/block/${basename(path)}/dev`) || undefined;
  }
}

/** Dependencies of turning swap on and off. */
export interface SwapsDeps {
  readonly source: SwapSource;
  /** Those of the node. */
  readonly programs: Programs;
  /** The same, with the time that a swapoff may take. */
  readonly patient: Programs;
  readonly hostRoot: string;
  readonly timers: System["timers"];
}

/** Swap by the node's swapon(8) and swapoff(8): in its mount namespace, so that the kernel shows paths of the node. */
export class LinuxSwaps implements Swaps {
  readonly #deps: SwapsDeps;

  constructor(deps: SwapsDeps) {
    this.#deps = deps;
  }

  read(): SwapTable {
    return this.#deps.source.read();
  }

  async on({ path, deviceNumber, identity }: ProbedDevice, how: SwapHow): Promise<void> {
    const { programs, hostRoot } = this.#deps;
    const args = [...swapOnArgs(how), onNode(path, hostRoot)];
    const device = {
      path,
      deviceNumber,
      ...(identity !== undefined && { identity }),
      stands: "anything" as const,
      keeps: true as const,
    };
    const result = await runOfNode(programs, "swapon", args, { device }, util);
    if (result.code !== 0) throw swapFailure("swapon", path, result);
  }

  async off(
    { path, deviceNumber }: Pick<ProbedDevice, "path" | "deviceNumber">,
    tell: (m: string) => void,
  ): Promise<void> {
    const now = this.read().devices.get(deviceNumber);
    if (now === undefined) return;
    const { patient } = this.#deps;
    // By the path that it was turned on by, as the node has it: ours may have been removed.
    const stop = this.#telling(deviceNumber, tell);
    try {
      const result = await runOfNode(patient, "swapoff", [now.path], { long: "readBack" }, util);
      if (result.code !== 0 && this.read().devices.has(deviceNumber)) throw swapFailure("swapoff", path, result);
    } finally {
      stop();
    }
  }

  #telling(deviceNumber: string, tell: (message: string) => void): Cancel {
    let cancel: Cancel = () => {};
    const next = () => {
      cancel = this.#deps.timers.after(tellMs, () => {
        const left = this.#left(deviceNumber);
        if (left !== undefined) tell(left);
        next();
      });
    };
    next();
    return () => cancel();
  }

  /** Undefined while it cannot be told: it is for people alone. */
  #left(deviceNumber: string): string | undefined {
    try {
      const swap = this.read().devices.get(deviceNumber);
      return (
        swap && `${Math.ceil(swap.usedBytes / 1024 ** 2)} MiB of ${swap.path} are still to be taken back into memory`
      );
    } catch {
      return undefined;
    }
  }
}
