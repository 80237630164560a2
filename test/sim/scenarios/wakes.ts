import type { World } from "../world.ts";
import { type Scenario, source, target } from "./scenario.ts";

/** Milliseconds after which an attempt has failed so often that the next is a minute away and more. */
const longWaitMs = 130_000;

/** Waits that end when their cause is gone, long before the backoff would have ended them. */
export const wakes: readonly Scenario[] = [
  {
    name: "a source appears, one directory after the other, and is mounted at once",
    async run(world) {
      const volume = world.cluster.createIntent("late", {
        source: { hostPath: { path: source("a/b/c"), type: "Directory" } },
        mounts: [target("late")],
      });
      await waitedLong(world, volume, "SourceNotFound");
      for (const path of ["a", "a/b", "a/b/c"]) {
        world.node.people.makeDirectory(source(path));
        await world.sleep(50);
      }
      await within(world, 1_000, "the mount", () => world.mountsOn(target("late")) === 1);
      world.cluster.deleteIntent(volume);
      await world.settle();
    },
  },
  {
    name: "a source appears by a mount over the directory above, and is mounted at once",
    async run(world) {
      const { people } = world.node;
      people.makeDirectory(source("disk"));
      const disk = world.node.machine.addDisk("/dev/vdb", "ext4");
      const volume = world.cluster.createIntent("late", {
        source: { hostPath: { path: source("disk/data"), type: "Directory" } },
        mounts: [target("late")],
      });
      await waitedLong(world, volume, "SourceNotFound");
      people.mountDisk(disk, source("disk"));
      people.makeDirectory(source("disk/data"));
      await within(world, 1_000, "the mount", () => world.mountsOn(target("late")) === 1);
      world.cluster.deleteIntent(volume);
      await world.settle();
    },
  },
  {
    name: "the process that keeps a mount busy ends, and the mount goes at once",
    async run(world) {
      const { people } = world.node;
      const volume = world.cluster.createIntent("used", {
        source: { emptyDir: { medium: "Memory" } },
        mounts: [target("used")],
      });
      await world.settle();
      const shell = people.use(target("used"));
      world.cluster.deleteIntent(volume);
      await waitedLong(world, volume, "TargetBusy");
      people.end(shell);
      await within(world, 1_000, "the unmount", () => world.mountsOn(target("used")) === 0);
      await world.settle();
    },
  },
  {
    name: "a child that does not end, even killed, ends after all, and its volume goes on at once",
    async run(world) {
      const disk = world.node.machine.addDisk("/dev/vdb", "ext4");
      disk.hung = true;
      const volume = world.cluster.createIntent("disk", {
        source: { local: { path: "/dev/vdb" } },
        mounts: [target("disk")],
      });
      await waitedLong(world, volume, "OperationAbandoned");
      disk.release();
      await within(world, 1_000, "the mount", () => world.mountsOn(target("disk")) === 1);
      world.cluster.deleteIntent(volume);
      await world.settle();
    },
  },
  {
    name: "the event of a source that appears is lost: the backoff ends the wait",
    async run(world) {
      const volume = world.cluster.createIntent("late", {
        source: { hostPath: { path: source("late"), type: "Directory" } },
        mounts: [target("late")],
      });
      await world.settle({ blocked: { [volume]: "SourceNotFound" } });
      world.deaf = true;
      await world.sleep(longWaitMs);
      world.node.people.makeDirectory(source("late"));
      await world.settle();
      world.cluster.deleteIntent(volume);
      await world.settle();
    },
  },
];

/** The volume has waited for so long, and waits for just this: a fault of the weather may have come between. */
async function waitedLong(world: World, volume: string, reason: string): Promise<void> {
  await world.settle({ blocked: { [volume]: reason } });
  await world.sleep(longWaitMs);
  await world.settle({ blocked: { [volume]: reason } });
}

/** Waits for something, which must not take longer, unless the agent was away meanwhile. */
async function within(world: World, ms: number, what: string, check: () => boolean): Promise<void> {
  const begin = world.scheduler.now;
  await world.until(what, check);
  const took = world.scheduler.now - begin;
  if (took > ms && world.faults.crashes === 0) throw new Error(`waited ${took / 1000} s for ${what}`);
}
