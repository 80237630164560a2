import { type Scenario, source, target } from "./scenario.ts";

const memory = { emptyDir: { medium: "Memory" } } as const;

/** A volume that is not wanted any more. */
export const tearDown: readonly Scenario[] = [
  {
    name: "deleted while a program uses it",
    async run(world) {
      const { people } = world.node;
      const volume = world.cluster.createIntent("busy", { source: memory, mounts: [target("busy")] });
      await world.settle();
      const program = people.use(target("busy"));
      world.cluster.deleteIntent(volume);
      await world.settle({ blocked: { [volume]: "TargetBusy" } });
      people.end(program);
      await world.settle();
    },
  },
  {
    name: "deleted while a container still has it mounted",
    async run(world) {
      const { people } = world.node;
      const volume = world.cluster.createIntent("held", { source: memory, mounts: [target("held")] });
      await world.settle();
      const container = people.container(target("held"));
      world.cluster.deleteIntent(volume);
      await world.settle({ blocked: { [volume]: "StillReferenced" } });
      people.end(container);
      await world.settle();
    },
  },
  {
    name: "deleted before it was mounted",
    async run(world) {
      const volume = world.cluster.createIntent("brief", { source: memory, mounts: [target("brief")] });
      await world.sleep(45);
      world.cluster.deleteIntent(volume);
      await world.settle();
    },
  },
  {
    name: "deleted at one moment or another of being set up",
    async run(world) {
      for (const [index, letter] of ["b", "c", "d", "e", "f"].entries()) {
        const device = `/dev/vd${letter}`;
        world.node.machine.addDisk(device, "ext4");
        const volume = world.cluster.createIntent(`disk-${letter}`, {
          source: { local: { path: device } },
          mounts: [target(letter)],
        });
        const granted = () => world.cluster.intent(volume)?.spec.grant !== undefined;
        await world.until("it to be granted", granted);
        await world.sleep(2 * index + 1);
        world.cluster.deleteIntent(volume);
      }
      await world.settle();
    },
  },
  {
    name: "deleted and created again at once",
    async run(world) {
      const volume = world.cluster.createIntent("again", { source: memory, mounts: [target("again")] });
      await world.settle();
      world.cluster.deleteIntent(volume);
      await world.until("the old intent to be gone", () => world.cluster.intent(volume) === undefined);
      world.cluster.createIntent("again", { source: memory, mounts: [target("again")] });
      await world.settle();
    },
  },
  {
    name: "retained",
    async run(world) {
      const { people } = world.node;
      people.makeDirectory(source("kept"));
      const volume = world.cluster.createIntent("kept", {
        source: { hostPath: { path: source("kept") } },
        mounts: [target("kept")],
        deletionPolicy: "Retain",
      });
      await world.settle();
      world.cluster.deleteIntent(volume);
      await world.settle({ kept: [volume] });
      await world.until("it to be mounted still", () => world.mountsOn(target("kept")) === 1, 0);
      people.unmount(target("kept"));
      await world.settle();
    },
  },
  {
    name: "forced off a program after its time",
    async run(world) {
      const { people } = world.node;
      const volume = world.cluster.createIntent("lazy", {
        source: memory,
        mounts: [target("lazy")],
        unmountPolicy: { max: "Lazy", timeoutSeconds: 10 },
      });
      await world.settle();
      const program = people.use(target("lazy"));
      world.cluster.deleteIntent(volume);
      await world.settle();
      people.end(program);
      await world.settle();
    },
  },
];
