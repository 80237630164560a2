import { findCondition } from "../../../src/api/conditions.ts";
import { resource } from "../../../src/api/names.ts";
import type { NodeVolumeState } from "../../../src/api/types.gen.ts";
import type { World } from "../world.ts";
import { type Scenario, target } from "./scenario.ts";

const memory = { emptyDir: { medium: "Memory" } } as const;
const controlled = { controllers: 1, intents: "Index" } as const;

/** Agents that hear of their intents by the index in their node's state; storms have it in one of three, too. */
export const indexed: readonly Scenario[] = [
  {
    name: "by the index: a set comes, changes and goes",
    world: controlled,
    async run(world) {
      world.cluster.createSet("scratch", { volume: { source: memory }, mounts: [target("first")] });
      await world.settle();
      mark(world);
      world.cluster.changeSet("scratch", { mounts: [target("second")] });
      await world.settle();
      world.cluster.deleteSet("scratch");
      await world.until("the set to be gone", () => world.cluster.setGone("scratch"));
      await world.settle();
    },
  },
  {
    name: "somebody empties the index, and takes it away",
    world: controlled,
    async run(world) {
      world.cluster.createSet("scratch", { volume: { source: memory }, mounts: [target("scratch")] });
      await world.settle();
      mark(world);
      for (const spec of [{ intents: [] }, null]) {
        world.cluster.writeIndex("a", spec);
        await world.settle();
      }
      world.cluster.deleteSet("scratch");
      await world.until("the set to be gone", () => world.cluster.setGone("scratch"));
      await world.settle();
    },
  },
  {
    name: "an agent starts beside an index that lacks what it has mounted",
    world: { intents: "Index" },
    async run(world) {
      const { agent, people } = world.node;
      const volume = world.cluster.createIntent("lacking", { source: memory, mounts: [target("lacking")] });
      await world.settle();
      world.mark(volume);
      agent.stop();
      world.cluster.writeIndex("a", { intents: [] });
      agent.start();
      await world.settle();
      people.unmount(target("lacking")); // which is repaired only for an intent that is known
      await world.settle();
      world.cluster.change(volume, { mounts: [target("lacking"), { name: "set.second", path: target("second") }] });
      await world.settle();
      world.cluster.deleteIntent(volume);
      await world.settle();
    },
  },
  {
    name: "an agent starts without an index, and nothing is taken down",
    world: { intents: "Index" },
    async run(world) {
      const { agent } = world.node;
      const volume = world.cluster.createIntent("kept", { source: memory, mounts: [target("kept")] });
      await world.settle();
      world.mark(volume);
      agent.stop();
      world.cluster.writeIndex("a", null);
      agent.start();
      // Whatever is written to the intent makes the index anew, too.
      await world.until(
        "the agent to say that it has none",
        () => hasIndex(world) || readyReason(world) === "IndexMissing",
      );
      await world.sleep(30_000);
      await world.until("it to be mounted still", () => world.mountsOn(target("kept")) === 1, 0);
      world.cluster.change(volume, { mounts: [target("other")] }); // which makes the index anew
      await world.settle();
    },
  },
];

function stateOf(world: World): NodeVolumeState | undefined {
  // The collection holds nothing else.
  return world.server.get(resource.states, "a") as unknown as NodeVolumeState | undefined;
}

function hasIndex(world: World): boolean {
  return stateOf(world)?.spec !== undefined;
}

function readyReason(world: World): string | undefined {
  return findCondition(stateOf(world)?.status.conditions, "Ready")?.reason;
}

function mark(world: World): void {
  for (const { metadata } of world.cluster.intents()) world.mark(metadata.name);
}
