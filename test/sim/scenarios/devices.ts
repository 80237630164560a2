import { type Scenario, target } from "./scenario.ts";

const device = "/dev/vdb";

/** Local block devices. */
export const devices: readonly Scenario[] = [
  {
    name: "an empty device is formatted",
    async run(world) {
      const disk = world.node.machine.addDisk(device);
      const volume = world.cluster.createIntent("disk", {
        source: { local: { path: device } },
        fsType: "xfs",
        mounts: [target("disk")],
      });
      await world.settle();
      world.mark(volume);
      await world.settle();
      world.cluster.deleteIntent(volume);
      await world.settle();
      const kept = () => disk.filesystem?.root.children.get("canary") !== undefined;
      await world.until("the data to be on the device", kept, 0);
    },
  },
  {
    name: "a device with a file system is not formatted",
    async run(world) {
      const disk = world.node.machine.addDisk(device, "ext4");
      const before = disk.filesystem;
      const volume = world.cluster.createIntent("disk", {
        source: { local: { path: device } },
        mounts: [target("disk")],
      });
      await world.settle();
      world.cluster.deleteIntent(volume);
      await world.settle();
      await world.until("the file system to be the same", () => disk.filesystem === before, 0);
    },
  },
  {
    name: "another file system than asked for",
    async run(world) {
      const disk = world.node.machine.addDisk(device, "ext4");
      const before = disk.filesystem;
      const volume = world.cluster.createIntent("disk", {
        source: { local: { path: device } },
        fsType: "xfs",
        mounts: [target("disk")],
      });
      await world.settle({ blocked: { [volume]: "FilesystemMismatch" } });
      world.cluster.deleteIntent(volume);
      await world.settle();
      await world.until("the file system to be the same", () => disk.filesystem === before, 0);
    },
  },
  {
    name: "a device with data that is no file system",
    async run(world) {
      const disk = world.node.machine.addDisk(device);
      disk.garbage = true;
      const volume = world.cluster.createIntent("disk", {
        source: { local: { path: device } },
        fsType: "ext4",
        mounts: [target("disk")],
      });
      await world.settle({ blocked: { [volume]: "DeviceNotEmpty" } });
      disk.garbage = false;
      await world.settle();
      world.cluster.deleteIntent(volume);
      await world.settle();
    },
  },
  {
    name: "the agent is killed while it makes a file system",
    async run(world) {
      const { machine, agent } = world.node;
      const volume = world.cluster.createIntent("disk", {
        source: { local: { path: device } },
        fsType: "ext4",
        mounts: [target("disk")],
      });
      // A server that is behind by more than the intent is old shows none, and what it shows none for is forgotten,
      // with the leave to format it (decision 0013). The weather's are behind by five seconds at most.
      await world.sleep(6_000);
      const disk = machine.addDisk(device);
      const begun = () => machine.journal.text?.includes('"formatting"') === true || disk.filesystem !== undefined;
      await world.until("mkfs to be on record", begun);
      await world.sleep(100);
      agent.kill();
      await world.settle();
      world.cluster.deleteIntent(volume);
      await world.settle();
    },
  },
  {
    name: "a device that somebody else has mounted",
    async run(world) {
      const disk = world.node.machine.addDisk(device, "ext4");
      world.node.people.makeDirectory("/srv/theirs");
      world.node.people.mountDisk(disk, "/srv/theirs");
      const volume = world.cluster.createIntent("disk", {
        source: { local: { path: device } },
        mounts: [target("disk")],
      });
      await world.settle({ blocked: { [volume]: "DeviceBusy" } });
      world.node.people.unmount("/srv/theirs");
      await world.settle();
      world.cluster.deleteIntent(volume);
      await world.settle();
    },
  },
  {
    name: "a device as it is",
    async run(world) {
      world.node.machine.addDisk(device);
      const volume = world.cluster.createIntent("raw", {
        source: { local: { path: device } },
        volumeMode: "Block",
        mounts: [target("raw")],
      });
      await world.settle();
      world.cluster.deleteIntent(volume);
      await world.settle();
    },
  },
  {
    name: "deleted while its device hangs, before anything is on record",
    async run(world) {
      const disk = world.node.machine.addDisk(device, "ext4");
      disk.hung = true;
      const volume = world.cluster.createIntent("disk", {
        source: { local: { path: device } },
        mounts: [target("disk")],
      });
      await world.sleep(50);
      world.cluster.deleteIntent(volume);
      await world.sleep(1_000);
      disk.release();
      await world.settle();
    },
  },
  {
    name: "a device that hangs for longer than the deadline",
    async run(world) {
      const disk = world.node.machine.addDisk(device, "ext4");
      disk.hung = true;
      const volume = world.cluster.createIntent("disk", {
        source: { local: { path: device } },
        mounts: [target("disk")],
      });
      const other = world.cluster.createIntent("other", { source: { emptyDir: {} }, mounts: [target("other")] });
      await world.until("the other volume to be mounted", () => world.cluster.reason(other) === "Mounted");
      await world.sleep(150_000);
      disk.release();
      await world.settle();
      world.cluster.deleteIntent(volume);
      await world.settle();
    },
  },
];
