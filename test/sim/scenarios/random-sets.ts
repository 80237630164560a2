import { resource } from "../../../src/api/names.ts";
import { SeededRandom } from "../random.ts";
import type { World } from "../world.ts";
import { type Scenario, source, target } from "./scenario.ts";

const rounds = 4;
const sets = ["scratch", "pictures", "tools"] as const;
type SetName = (typeof sets)[number];

/** The real controller, two candidates of it, while sets and nodes come, change and go in any order. */
export const randomSets: Scenario = {
  name: "people change sets at random",
  world: { nodes: ["a", "b", "c"], controllers: 2 },
  async run(world) {
    const random = new SeededRandom(world.seed, "story");
    prepare(world);
    for (let round = 0; round < rounds; round++) {
      for (let step = random.below(4); step >= 0; step--) {
        act(world, random);
        await world.sleep(random.pick([0, 5, 60, 500, 8_000]));
      }
      await world.settle();
    }
    for (const set of sets) remove(world, set);
    await world.settle();
  },
};

function prepare(world: World): void {
  for (const { people } of world.nodes.values()) {
    for (const name of ["one", "two"]) people.makeDirectory(source(name));
  }
}

function act(world: World, random: SeededRandom): void {
  const set = random.pick(sets);
  const node = random.pick([...world.nodes.keys()]);
  if (world.cluster.setGone(set)) {
    world.cluster.createSet(set, { volume: someVolume(random), mounts: someMounts(set, random), ...someNodes(random) });
    return;
  }
  const actions = [
    () => remove(world, set),
    () => world.cluster.changeSet(set, { mounts: someMounts(set, random) }),
    () => world.cluster.changeSet(set, { volume: someVolume(random) }),
    () => world.cluster.changeSet(set, someNodes(random)),
    () => world.cluster.labelNode(node, { disk: random.pick(["fast", "slow", null]) }),
    () => world.nodes.get(node)?.agent.kill(),
    () => random.pick(world.controllers).kill(),
    () => random.pick(world.controllers).upgrade(),
    () => {
      if (world.nodes.size < 5) world.addNode(`n${world.nodes.size}`, { disk: "fast" });
      prepare(world);
    },
    () => {
      const [intent] = world.cluster.intents().filter(({ spec }) => spec.nodeName === node);
      const path = intent?.spec.mounts[0]?.path ?? "";
      const there = world.nodes.get(node);
      if (there !== undefined && world.mountsOn(path, there) === 1) there.people.unmount(path);
    },
  ];
  random.pick(actions)();
}

function someVolume(random: SeededRandom) {
  const path = random.pick(["one", "two"]);
  return random.pick([
    { source: { emptyDir: { medium: "Memory" as const } } },
    { source: { hostPath: { path: source(path) } } },
  ]);
}

function someMounts(set: SetName, random: SeededRandom): { path: string; readOnly: boolean }[] {
  const first = { path: target(`${set}-${random.pick(["here", "there"])}`), readOnly: random.chance(0.3) };
  const second = { path: target(`${set}-more`), readOnly: false };
  return random.chance(0.3) ? [first, second] : [first];
}

function someNodes(random: SeededRandom) {
  return { nodeSelector: random.pick([{}, { disk: "fast" }]) };
}

function remove(world: World, set: SetName): void {
  const known = world.server.get(resource.sets, set);
  if (known !== undefined && known.metadata.deletionTimestamp === undefined) world.cluster.deleteSet(set);
}
