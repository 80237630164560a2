import { type Scenario, source, target } from "./scenario.ts";

/** A spec that changes while the volume is mounted. */
export const change: readonly Scenario[] = [
  {
    name: "another path: the new one first",
    async run(world) {
      const volume = world.cluster.createIntent("moved", {
        source: { emptyDir: { medium: "Memory" } },
        mounts: [target("old")],
      });
      await world.settle();
      world.mark(volume);
      world.cluster.change(volume, { mounts: [target("new")] });
      await world.settle();
    },
  },
  {
    name: "one mount more, then the first one less",
    async run(world) {
      const volume = world.cluster.createIntent("grown", { source: { emptyDir: {} }, mounts: [target("first")] });
      await world.settle();
      world.mark(volume);
      const second = { name: "set.second", path: target("second") };
      world.cluster.change(volume, { mounts: [target("first"), second] });
      await world.settle();
      world.cluster.change(volume, { mounts: [second] });
      await world.settle();
      world.cluster.change(volume, { mounts: [] });
      await world.settle();
    },
  },
  {
    name: "flags of a mount, in place",
    async run(world) {
      const volume = world.cluster.createIntent("flags", {
        source: { emptyDir: { medium: "Memory" } },
        mounts: [target("flags")],
      });
      await world.settle();
      world.mark(volume);
      world.cluster.change(volume, { mounts: [{ path: target("flags"), readOnly: true, mountOptions: ["noexec"] }] });
      await world.settle();
    },
  },
  {
    name: "options of a file system, in place",
    async run(world) {
      world.node.machine.addDisk("/dev/vdb", "ext4");
      const local = { source: { local: { path: "/dev/vdb" } }, fsType: "ext4", mounts: [target("disk")] } as const;
      const volume = world.cluster.createIntent("disk", { ...local, mountOptions: ["commit=5"] });
      await world.settle();
      world.mark(volume);
      world.cluster.change(volume, { mountOptions: ["commit=9", "discard"] });
      await world.settle();
    },
  },
  {
    name: "options of a file system that need another mount",
    async run(world) {
      world.node.machine.addDisk("/dev/vdb", "ext4");
      const local = { source: { local: { path: "/dev/vdb" } }, fsType: "ext4", mounts: [target("disk")] } as const;
      const volume = world.cluster.createIntent("disk", { ...local, mountOptions: ["commit=5"] });
      await world.settle();
      world.mark(volume);
      world.cluster.change(volume, { mountOptions: ["commit=5", "data=journal"] });
      await world.settle();
      world.cluster.change(volume, { mountOptions: [] });
      await world.settle();
    },
  },
  {
    name: "content of a configMap and of a secret",
    async run(world) {
      world.cluster.configMap("settings", { colour: "blue" });
      world.cluster.secret("login", "1");
      world.cluster.createIntent("settings", {
        source: { configMap: { namespace: "default", name: "settings" } },
        mounts: [target("settings")],
      });
      world.cluster.createIntent("login", {
        source: { secret: { namespace: "default", secretName: "login" } },
        mounts: [target("login")],
      });
      await world.settle();
      world.cluster.configMap("settings", { colour: "green", shape: "round" });
      world.cluster.secret("login", "2");
      await world.settle();
    },
  },
  {
    name: "two intents want one path",
    async run(world) {
      for (const name of ["one", "two"]) world.node.people.makeDirectory(source(name));
      const first = world.cluster.createIntent("one", {
        source: { hostPath: { path: source("one") } },
        mounts: [target("same")],
      });
      await world.settle();
      const second = world.cluster.createIntent("two", {
        source: { hostPath: { path: source("two") } },
        mounts: [target("same")],
      });
      await world.settle({ blocked: { [second]: "PathConflict" } });
      world.cluster.deleteIntent(first);
      await world.settle();
    },
  },
  {
    name: "suspended, and no longer",
    async run(world) {
      const { people } = world.node;
      const volume = world.cluster.createIntent("paused", {
        source: { emptyDir: { medium: "Memory" } },
        mounts: [target("paused")],
      });
      await world.settle();
      world.cluster.change(volume, { suspend: true });
      await world.settle();
      people.unmount(target("paused"));
      await world.sleep(10_000);
      await world.until("nothing to be repaired", () => world.mountsOn(target("paused")) === 0, 0);
      world.cluster.change(volume, { suspend: false });
      await world.settle();
    },
  },
];
