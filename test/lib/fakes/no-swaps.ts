import type { Swaps } from "../../../src/host/ports/swaps.ts";

const none = async () => {
  throw new Error("there is no swap here");
};

/** A node that does not swap. */
export const noSwaps: Swaps = {
  read: () => ({ devices: new Map(), lost: [] }),
  on: none,
  off: none,
};
