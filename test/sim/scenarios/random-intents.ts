import { SeededRandom } from "../random.ts";
import type { World } from "../world.ts";
import { type Scenario, source, target } from "./scenario.ts";

const rounds = 5;
const device = "/dev/vdb";
const volumes = ["memory", "disk", "pictures", "settings", "device"] as const;
type Volume = (typeof volumes)[number];

const specs = {
  memory: { source: { emptyDir: { medium: "Memory" } } },
  disk: { source: { emptyDir: {} } },
  pictures: { source: { hostPath: { path: source("pictures") } } },
  settings: { source: { configMap: { namespace: "default", name: "settings" } } },
  device: { source: { local: { path: device } }, fsType: "ext4" },
} as const;

/** Volumes of every kind come, change and go in any order, while somebody unmounts them and agents die. */
export const randomIntents: Scenario = {
  name: "people change intents at random",
  async run(world) {
    const random = new SeededRandom(world.seed, "story");
    const { people, machine, agent } = world.node;
    people.makeDirectory(source("pictures"));
    machine.addDisk(device, "ext4");
    world.cluster.configMap("settings", { colour: "blue" });
    for (let round = 0; round < rounds; round++) {
      for (let step = random.below(5); step >= 0; step--) {
        act(world, random);
        await world.sleep(random.pick([0, 3, 40, 300, 6_000]));
      }
      await world.settle();
      for (const volume of volumes) write(world, volume);
      if (random.chance(0.1)) agent.reboot();
    }
    for (const volume of volumes) remove(world, volume);
    await world.settle();
  },
};

function act(world: World, random: SeededRandom): void {
  const volume = random.pick(volumes);
  const { agent, people } = world.node;
  const intent = world.cluster.intent(`a.${volume}`);
  const mounts = someMounts(volume, random);
  if (intent === undefined) {
    world.cluster.createIntent(volume, { ...specs[volume], mounts });
    return;
  }
  const mounted = intent.spec.mounts.filter(({ path }) => world.mountsOn(path) === 1);
  const actions = [
    () => remove(world, volume),
    () => {
      if (mounts.length === 0) world.canaries.delete(intent.metadata.name); // nobody wants it any more
      world.cluster.change(intent.metadata.name, { mounts });
    },
    () => {
      if (volume === "device") {
        world.cluster.change(intent.metadata.name, { mountOptions: random.pick([[], ["commit=5"], ["data=journal"]]) });
      } else if (volume === "settings") world.cluster.configMap("settings", { colour: `${random.below(1000)}` });
    },
    () => {
      if (mounted.length > 0) people.unmount(random.pick(mounted).path);
    },
    () => {
      if (mounted.length > 0) people.remount(random.pick(mounted).path, { noexec: true });
    },
    () => agent.kill(),
    () => agent.upgrade(),
    () => world.cluster.change(intent.metadata.name, { suspend: intent.spec.suspend !== true }),
  ];
  random.pick(actions)();
}

function someMounts(volume: Volume, random: SeededRandom): { name: string; path: string; readOnly: boolean }[] {
  return ["one", "two", "three"]
    .filter(() => random.chance(0.5))
    .map((name) => ({ name: `set.${name}`, path: target(`${volume}-${name}`), readOnly: random.chance(0.3) }));
}

/** A consumer writes, if the volume is there to be written to. */
function write(world: World, volume: Volume): void {
  const intent = world.cluster.intent(`a.${volume}`);
  const first = intent?.spec.mounts[0];
  if (volume === "settings" || intent === undefined || first === undefined || first.readOnly) return;
  if (intent.spec.suspend !== true) world.mark(intent.metadata.name);
}

function remove(world: World, volume: Volume): void {
  const intent = world.cluster.intent(`a.${volume}`);
  if (intent === undefined || intent.metadata.deletionTimestamp !== undefined) return;
  world.canaries.delete(intent.metadata.name);
  world.cluster.deleteIntent(intent.metadata.name);
}
