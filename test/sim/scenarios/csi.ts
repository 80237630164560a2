import type { DriverKind } from "../csi/storage.ts";
import { type Scenario, target } from "./scenario.ts";

/** A driver without attachments: the agent alone decides. */
export const local: DriverKind = {
  name: "local.csi.sim",
  attach: false,
  stageUnstage: true,
  expand: false,
  serializes: true,
};

const one = { nodes: ["a"], drivers: [local] } as const;

/** CSI volumes that are not attached, granted by the fake controller. */
export const csi: readonly Scenario[] = [
  {
    name: "a CSI volume that needs no attachment",
    world: one,
    async run(world) {
      world.csi.volume("vol-1");
      const source = { csi: { driver: local.name, volumeHandle: "vol-1" } };
      const volume = world.cluster.createIntent("csi", { source, mounts: [target("one"), target("two")] });
      await world.settle();
      world.mark(volume);
      world.cluster.change(volume, { mounts: [target("one")] });
      await world.settle();
      world.cluster.deleteIntent(volume);
      await world.settle();
    },
  },
];
