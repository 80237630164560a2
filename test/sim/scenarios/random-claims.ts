import { resource } from "../../../src/api/names.ts";
import { pointOf } from "../kernel/lookup.ts";
import { SeededRandom } from "../random.ts";
import type { World } from "../world.ts";
import { network } from "./attach.ts";
import { type Scenario, target } from "./scenario.ts";

const rounds = 3;
const nodes = ["a", "b"] as const;
/** Claims by name, and whether one node at a time may use each. */
const claims = { alone: true, shared: false } as const;
type Claim = keyof typeof claims;
const names = Object.keys(claims) as Claim[];

/**
 * Claims are wanted here and there, by us and by pods, while everything that has to do with them is killed and hangs.
 */
export const randomClaims: Scenario = {
  name: "people move claims at random",
  world: { nodes, controllers: 2, drivers: [network], kubeControllerManager: true },
  async run(world) {
    const random = new SeededRandom(world.seed, "story");
    for (const name of names) {
      world.csi.cluster.boundClaim(name, world.csi.volume(`vol-${name}`, { singleNode: claims[name] }));
    }
    for (let round = 0; round < rounds; round++) {
      for (let step = random.below(6); step >= 0; step--) {
        act(world, random);
        await world.sleep(random.pick([0, 5, 500, 6_000, 20_000]));
      }
      calmDown(world, random);
      await world.settle();
    }
    for (const name of names) remove(world, name);
    await world.settle();
  },
};

function act(world: World, random: SeededRandom): void {
  const claim = random.pick(names);
  const node = random.pick(nodes);
  const driver = random.pick(world.csi.drivers);
  const move = () => world.cluster.labelNode(node, { [claim]: random.pick(["yes", null]) });
  if (world.cluster.setGone(claim)) {
    move();
    const source = { persistentVolumeClaim: { namespace: "default", claimName: claim } };
    const mounts = [target(claim)];
    world.cluster.createSet(claim, { volume: { source }, mounts, nodeSelector: { [claim]: "yes" } });
    return;
  }
  const actions = [
    move,
    move,
    move,
    () => remove(world, claim),
    () => world.csi.cluster.createPod(`pod-${claim}-${node}`, claim, node),
    () => world.csi.cluster.deletePod(`pod-${claim}-${node}`),
    () => world.csi.kubeControllerManager?.kill(),
    () => world.nodes.get(node)?.agent.kill(),
    () => random.pick(world.controllers).kill(),
    () => world.csi.attachers[0]?.kill(),
    () => driver.stop(random.chance(0.5)),
    () => driver.start(),
    () => driver.hang(),
    () => driver.letGo(),
    () => unmountSomething(world, random),
  ];
  random.pick(actions)();
}

/** Of what one node at a time may have, one wants it; pods are gone, and drivers there. */
function calmDown(world: World, random: SeededRandom): void {
  world.cluster.labelNode(random.pick(nodes), { alone: null });
  for (const { metadata } of world.server.list(resource.pods)) world.csi.cluster.deletePod(metadata.name);
  for (const driver of world.csi.drivers) {
    driver.letGo();
    driver.start();
  }
}

/** What a driver has mounted for us, or what is bound of it. */
function unmountSomething(world: World, random: SeededRandom): void {
  const node = world.nodes.get(random.pick(nodes));
  const points = [...(node?.machine.kernel.host.mounts ?? [])]
    .filter(({ superblock }) => superblock.fsType === "xfs")
    .map((mount) => pointOf(mount) ?? "")
    .filter((point) => !point.includes("kubernetes.io/csi"));
  if (points.length > 0) node?.people.unmount(random.pick(points));
}

function remove(world: World, claim: Claim): void {
  const known = world.server.get(resource.sets, claim);
  if (known !== undefined && known.metadata.deletionTimestamp === undefined) world.cluster.deleteSet(claim);
}
