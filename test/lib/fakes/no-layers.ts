import type { Layers } from "../../../src/host/ports/block-layers.ts";

const none = async () => {
  throw new Error("there is no device-mapper here");
};

/** A node without LVM and LUKS. */
export const noLayers: Layers = {
  mapped: async () => undefined,
  randomKey: () => new Uint8Array(32),
  formatLUKS: none,
  openLUKS: none,
  resizeLUKS: none,
  closeLUKS: none,
  logicalVolume: none,
  makeLogicalVolume: none,
  growLogicalVolume: none,
  activate: none,
};
