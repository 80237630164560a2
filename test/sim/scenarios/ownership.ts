import type { DriverKind } from "../csi/storage.ts";
import type { Dentry } from "../kernel/dentry.ts";
import { rootOf, walk } from "../kernel/lookup.ts";
import type { World } from "../world.ts";
import { local } from "./csi.ts";
import { type Scenario, target } from "./scenario.ts";

const walked: DriverKind = { ...local, fsGroupPolicy: "File" };

/** Whom the files of volumes belong to: the agent gives them to a group, or the driver does. */
export const ownership: readonly Scenario[] = [
  {
    name: "the files of a CSI volume are given to a group, and to another one",
    world: { nodes: ["a"], drivers: [walked] },
    async run(world) {
      world.csi.volume("vol-1");
      const volume = world.cluster.createIntent("owned", { source, mounts: [target("one")] });
      await world.settle();
      for (const name of ["a", "b", "c"]) world.node.people.write(`${target("one")}/${name}`, "data");
      world.cluster.change(volume, { mounts: [asks("one", 2000)] });
      await world.settle();
      await belongsTo(world, "one", 2000);
      world.node.people.write(`${target("one")}/new`, "data");
      world.cluster.change(volume, { mounts: [asks("one", 2000), asks("two", 2000)] });
      await world.settle();
      await belongsTo(world, "two", 2000);
      world.cluster.change(volume, { mounts: [asks("one", 3000), asks("two", 3000)] });
      await world.settle();
      await belongsTo(world, "one", 3000);
      world.cluster.deleteIntent(volume);
      await world.settle();
    },
  },
  {
    name: "two mounts of a CSI volume ask for two groups",
    world: { nodes: ["a"], drivers: [walked] },
    async run(world) {
      world.csi.volume("vol-1");
      const volume = world.cluster.createIntent("owned", { source, mounts: [asks("one", 2000)] });
      await world.settle();
      world.node.people.write(`${target("one")}/a`, "data");
      world.cluster.change(volume, { mounts: [asks("one", 2000), asks("two", 3000)] });
      await world.until("the second to wait", () => world.cluster.reason(volume) === "FsGroupConflict");
      world.cluster.change(volume, { mounts: [{ ...asks("two", 3000), name: "set.m1" }] });
      await world.settle();
      await belongsTo(world, "two", 3000);
      world.cluster.deleteIntent(volume);
      await world.settle();
    },
  },
  {
    name: "a CSI driver gives the files to a group itself, and to another one",
    world: { nodes: ["a"], drivers: [{ ...local, mountGroup: true }] },
    async run(world) {
      world.csi.volume("vol-1");
      const volume = world.cluster.createIntent("owned", { source, mounts: [asks("one", 2000)] });
      await world.settle();
      await rootBelongsTo(world, "one", 2000);
      world.cluster.change(volume, { mounts: [asks("one", 3000)] });
      await world.settle();
      await rootBelongsTo(world, "one", 3000);
      world.cluster.deleteIntent(volume);
      await world.settle();
    },
  },
  {
    name: "path and group of two mounts of a CSI volume change at once",
    world: { nodes: ["a"], drivers: [walked] },
    async run(world) {
      world.csi.volume("vol-1");
      const volume = world.cluster.createIntent("owned", { source, mounts: [asks("one", 2000), asks("two", 2000)] });
      await world.settle();
      world.node.people.write(`${target("one")}/a`, "data");
      world.cluster.change(volume, { mounts: [asks("three", 3000), asks("four", 3000)] });
      await world.settle();
      await belongsTo(world, "three", 3000);
      await belongsTo(world, "four", 3000);
      world.cluster.deleteIntent(volume);
      await world.settle();
    },
  },
  {
    name: "a mount of a CSI volume asks its driver for a group, where another has none",
    world: { nodes: ["a"], drivers: [{ ...local, mountGroup: true }] },
    async run(world) {
      world.csi.volume("vol-1");
      const volume = world.cluster.createIntent("owned", { source, mounts: [target("one")] });
      await world.settle();
      world.node.people.write(`${target("one")}/a`, "data");
      world.cluster.change(volume, { mounts: [target("one"), asks("two", 2000)] });
      await world.until("the second to wait", () => world.cluster.reason(volume) === "FsGroupConflict");
      await world.until("the first to stay", () => rootOfVolume(world, "one")?.children.has("a") === true);
      world.cluster.change(volume, { mounts: [{ ...asks("two", 2000), name: "set.m1" }] });
      await world.settle();
      await rootBelongsTo(world, "two", 2000);
      world.cluster.deleteIntent(volume);
      await world.settle();
    },
  },
  {
    name: "the files of an emptyDir on disk are given to a group, and to another one",
    async run(world) {
      const emptyDir = { emptyDir: {} };
      const volume = world.cluster.createIntent("owned", { source: emptyDir, mounts: [target("one")] });
      await world.settle();
      for (const name of ["a", "b", "c"]) world.node.people.write(`${target("one")}/${name}`, "data");
      world.cluster.change(volume, { mounts: [asks("one", 2000)] });
      await world.settle();
      await belongsTo(world, "one", 2000);
      world.cluster.change(volume, { mounts: [{ ...asks("two", 3000), name: "set.m1" }] });
      await world.settle();
      await belongsTo(world, "two", 3000);
      world.cluster.deleteIntent(volume);
      await world.settle();
    },
  },
  {
    name: "content is written for a group, and for another one when nobody has the first",
    async run(world) {
      world.cluster.secret("login", "1");
      const secret = { secret: { namespace: "default", secretName: "login" } };
      const volume = world.cluster.createIntent("login", { source: secret, mounts: [asks("one", 2000)] });
      await world.settle();
      await belongsTo(world, "one", 2000);
      world.cluster.change(volume, { mounts: [asks("one", 2000), asks("two", 3000)] });
      await world.until("the second to wait", () => world.cluster.reason(volume) === "FsGroupConflict");
      world.cluster.secret("login", "2");
      world.cluster.change(volume, { mounts: [{ ...asks("two", 3000), name: "set.m1" }] });
      await world.settle();
      await belongsTo(world, "two", 3000);
      world.cluster.deleteIntent(volume);
      await world.settle();
    },
  },
];

const source = { csi: { driver: local.name, volumeHandle: "vol-1" } };

function asks(name: string, fsGroup: number) {
  return { path: target(name), fsGroup };
}

function rootOfVolume({ node }: World, name: string): Dentry | undefined {
  return walk(rootOf(node.machine.kernel.host), target(name), "refuse")?.dentry;
}

async function rootBelongsTo(world: World, name: string, gid: number): Promise<void> {
  await world.until(`${name} to belong to ${gid}`, () => rootOfVolume(world, name)?.gid === gid, 0);
}

async function belongsTo(world: World, name: string, gid: number): Promise<void> {
  await rootBelongsTo(world, name, gid);
  const files = () => [...(rootOfVolume(world, name)?.children.values() ?? [])];
  await world.until(`the files of ${name} to belong to ${gid}`, () => files().every((file) => file.gid === gid), 0);
}
