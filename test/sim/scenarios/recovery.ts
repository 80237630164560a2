import { type Scenario, source, target } from "./scenario.ts";

const memory = { emptyDir: { medium: "Memory" } } as const;

/** The agent, its journal, its node or the API server go and come back. */
export const recovery: readonly Scenario[] = [
  {
    name: "the agent is upgraded with everything mounted",
    async run(world) {
      const volume = world.cluster.createIntent("upgraded", { source: memory, mounts: [target("upgraded")] });
      world.cluster.createIntent("disk", { source: { emptyDir: {} }, mounts: [target("disk")] });
      await world.settle();
      world.mark(volume);
      world.node.agent.upgrade();
      await world.settle();
    },
  },
  {
    name: "the agent is killed while the spec changes",
    async run(world) {
      const volume = world.cluster.createIntent("killed", { source: memory, mounts: [target("before")] });
      await world.settle();
      world.mark(volume);
      world.node.agent.stop();
      world.cluster.change(volume, { mounts: [target("after")] });
      world.node.agent.start();
      await world.settle();
    },
  },
  {
    name: "the journal is lost",
    async run(world) {
      const { agent, machine } = world.node;
      const volume = world.cluster.createIntent("lost", { source: memory, mounts: [target("lost")] });
      const other = world.cluster.createIntent("disk", { source: { emptyDir: {} }, mounts: [target("disk")] });
      await world.settle();
      world.mark(volume);
      world.mark(other);
      agent.stop();
      machine.journal.text = undefined;
      agent.start();
      await world.settle();
      world.cluster.deleteIntent(volume);
      world.cluster.deleteIntent(other);
      await world.settle({ pointsMayBeLeft: true });
    },
  },
  {
    name: "the journal is lost while the volume is deleted",
    async run(world) {
      const { agent, machine } = world.node;
      const volume = world.cluster.createIntent("lost", { source: memory, mounts: [target("lost")] });
      await world.settle();
      agent.stop();
      machine.journal.text = undefined;
      world.cluster.deleteIntent(volume);
      agent.start();
      await world.settle({ pointsMayBeLeft: true });
    },
  },
  {
    name: "the node reboots",
    async run(world) {
      const { people, agent, machine } = world.node;
      people.makeDirectory(source("pictures"));
      machine.addDisk("/dev/vdb", "ext4");
      const kept = [
        world.cluster.createIntent("disk", { source: { emptyDir: {} }, mounts: [target("disk")] }),
        world.cluster.createIntent("device", { source: { local: { path: "/dev/vdb" } }, mounts: [target("device")] }),
        world.cluster.createIntent("pictures", {
          source: { hostPath: { path: source("pictures") } },
          mounts: [target("pictures")],
        }),
      ];
      const memoryVolume = world.cluster.createIntent("memory", { source: memory, mounts: [target("memory")] });
      await world.settle();
      for (const volume of kept) world.mark(volume);
      agent.reboot();
      await world.settle();
      for (const volume of [...kept, memoryVolume]) world.cluster.deleteIntent(volume);
      await world.settle();
    },
  },
  {
    name: "the node reboots while a volume is deleted",
    async run(world) {
      const volume = world.cluster.createIntent("memory", { source: memory, mounts: [target("memory")] });
      const disk = world.cluster.createIntent("disk", { source: { emptyDir: {} }, mounts: [target("disk")] });
      await world.settle();
      world.mark(disk);
      const program = world.node.people.use(target("disk"));
      world.cluster.deleteIntent(volume);
      world.cluster.deleteIntent(disk);
      await world.sleep(30);
      world.node.agent.reboot();
      void program;
      // The new boot is a proof for the controller; whether the agent ever learns of the deletion is another matter.
      await world.settle({ mayBeKept: [volume, disk] });
    },
  },
  {
    name: "the node reboots while a deleted volume is still in use",
    async run(world) {
      const disk = world.cluster.createIntent("disk", { source: { emptyDir: {} }, mounts: [target("disk")] });
      await world.settle();
      world.mark(disk); // a directory with something in it goes only if the agent knows it for its own
      const program = world.node.people.use(target("disk"));
      world.cluster.deleteIntent(disk);
      await world.settle({ blocked: { [disk]: "TargetBusy" } });
      world.node.agent.reboot();
      void program;
      // The agent knows of the deletion: its data goes, though the controller needs no acknowledgement any more.
      await world.settle();
    },
  },
  {
    name: "the API server is away, then back",
    async run(world) {
      const volume = world.cluster.createIntent("away", { source: memory, mounts: [target("away")] });
      await world.settle();
      world.mark(volume);
      world.outage("begin");
      world.node.people.unmount(target("away"));
      world.cluster.change(volume, { mounts: [target("away"), { name: "set.second", path: target("second") }] });
      await world.sleep(60_000);
      // An agent that starts meanwhile does not know what is wanted.
      const repaired = () => world.mountsOn(target("away")) === 1 || !world.node.agent.ready;
      await world.until("the mount to be repaired meanwhile", repaired);
      world.outage("end");
      await world.settle();
    },
  },
  {
    name: "an agent starts while the API server is away and a volume is to go",
    async run(world) {
      const { people, agent } = world.node;
      const volume = world.cluster.createIntent("going", { source: memory, mounts: [target("going")] });
      await world.settle();
      const program = people.use(target("going"));
      world.cluster.deleteIntent(volume);
      await world.settle({ blocked: { [volume]: "TargetBusy" } });
      agent.stop();
      world.outage("begin");
      people.end(program);
      agent.start();
      await world.sleep(30_000);
      // It knows from its journal that the volume is to go, but not what else may want it by now.
      await world.until("it to be mounted still", () => world.mountsOn(target("going")) === 1 || world.uprooted, 0);
      world.outage("end");
      await world.settle();
    },
  },
  {
    name: "an intent vanishes, and is created again",
    async run(world) {
      const volume = world.cluster.createIntent("vanished", { source: memory, mounts: [target("vanished")] });
      await world.settle();
      world.mark(volume);
      world.cluster.stripFinalizer(volume);
      await world.settle({ kept: [volume] });
      await world.until("it to be mounted still", () => world.mountsOn(target("vanished")) === 1, 0);
      world.cluster.createIntent("vanished", { source: memory, mounts: [target("vanished")] });
      await world.settle();
      world.cluster.deleteIntent(volume);
      await world.settle();
    },
  },
  {
    name: "a spec is not understood for a while",
    async run(world) {
      const volume = world.cluster.createIntent("tomorrow", { source: memory, mounts: [target("tomorrow")] });
      await world.settle();
      world.mark(volume);
      world.cluster.writeAsLaterVersion(volume, { ofTomorrow: { depth: 3 } });
      await world.settle({ blocked: { [volume]: "Invalid" } });
      const mounted = () => world.mountsOn(target("tomorrow")) === 1 || world.uprooted;
      await world.until("it to be mounted still", mounted, 0);
      world.cluster.writeAsLaterVersion(volume, null);
      await world.settle();
      world.cluster.writeAsLaterVersion(volume, { ofTomorrow: { depth: 4 } });
      world.cluster.deleteIntent(volume);
      await world.settle();
    },
  },
  {
    name: "an agent starts beside an API server that is behind",
    async run(world) {
      const volume = world.cluster.createIntent("stale", { source: memory, mounts: [target("first")] });
      await world.settle();
      world.cluster.change(volume, { mounts: [target("second")] });
      await world.settle();
      world.mark(volume);
      world.network.lagMs = 20_000;
      world.node.agent.kill();
      await world.sleep(30_000);
      world.network.lagMs = 0;
      await world.settle();
    },
  },
];
