import type { Cancel } from "../../ports.ts";
import type { ProbedDevice } from "./block-layers.ts";

/** A device that the kernel swaps to. */
export interface Swap {
  /** Its node, as the kernel was told it. */
  readonly path: string;
  readonly sizeBytes: number;
  readonly usedBytes: number;
  readonly priority: number;
}

/** What the kernel swaps to. Files are left out: no volume of ours is one. */
export interface SwapTable {
  /** By `major:minor`. */
  readonly devices: ReadonlyMap<string, Swap>;
  /** Devices of which only a path is known that leads to none any more. */
  readonly lost: readonly string[];
}

/** The swap areas of the node (/proc/swaps). */
export interface SwapSource {
  /** @throws if it cannot be read */
  read(): SwapTable;
  /** Calls `onChange` soon after swap was turned on or off. @throws Errno EMFILE and the like */
  watch(onChange: () => void): Cancel;
}

/** How swap is turned on (swapon(2)). */
export interface SwapHow {
  /** 0 to 32767, the highest first; undefined: the kernel's choice, below all that have one. */
  readonly priority?: number;
  /**
   * The device is told of what is free: of all of it when it is turned on, of each cluster that gets free, or of both.
   */
  readonly discard?: "once" | "pages" | "both";
}

/** Swap space, by the node's own programs. All reject with VolumeError, ToolMissing among them. */
export interface Swaps extends Pick<SwapSource, "read"> {
  /** Begins to swap to a device that has a swap area and that nobody has. Fails with DeviceBusy. */
  on(device: ProbedDevice, how: SwapHow): Promise<void>;
  /**
   * Turns swap off on a device. Its contents are read back first, which may take long. Does nothing if the device is
   * not in use as swap. Fails with SwapNeeded if there is no memory for the contents.
   * @param tell called with the size that is left
   */
  off(device: Pick<ProbedDevice, "path" | "deviceNumber">, tell: (message: string) => void): Promise<void>;
}
