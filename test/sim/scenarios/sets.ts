import type { SimNode } from "../sim-node.ts";
import { type Scenario, source, target } from "./scenario.ts";

const memory = { source: { emptyDir: { medium: "Memory" } } } as const;
const three = { nodes: ["a", "b", "c"], controllers: 2 } as const;
const one = { nodes: ["a"], controllers: 2 } as const;

/** The real controller, two candidates of it, makes sets into intents. */
export const sets: readonly Scenario[] = [
  {
    name: "a set on three nodes, and gone again",
    world: three,
    async run(world) {
      world.cluster.createSet("scratch", { volume: memory, mounts: [target("scratch")] });
      await world.settle();
      world.cluster.deleteSet("scratch");
      await world.settle();
    },
  },
  {
    name: "a set changes its options, then its path",
    world: one,
    async run(world) {
      world.cluster.createSet("scratch", { volume: memory, mounts: [target("old")] });
      await world.settle();
      for (const intent of world.cluster.intents()) world.mark(intent.metadata.name);
      world.cluster.changeSet("scratch", { mounts: [{ path: target("old"), readOnly: true }] });
      await world.settle();
      world.cluster.changeSet("scratch", { mounts: [target("new")] });
      await world.settle();
    },
  },
  {
    name: "a set changes its source: the old one goes first",
    world: one,
    async run(world) {
      for (const name of ["one", "two"]) world.node.people.makeDirectory(source(name));
      world.cluster.createSet("data", {
        volume: { source: { hostPath: { path: source("one") } } },
        mounts: [target("data")],
      });
      await world.settle();
      world.cluster.changeSet("data", { volume: { source: { hostPath: { path: source("two") } } } });
      await world.settle();
    },
  },
  {
    name: "nodes come, go, and are no longer selected",
    world: three,
    async run(world) {
      world.cluster.labelNode("a", { disk: "fast" });
      world.cluster.createSet("scratch", {
        nodeSelector: { disk: "fast" },
        volume: memory,
        mounts: [target("scratch")],
      });
      await world.settle();
      world.cluster.labelNode("b", { disk: "fast" });
      world.addNode("d", { disk: "fast" });
      await world.settle();
      world.cluster.labelNode("a", { disk: null });
      await world.settle();
    },
  },
  {
    name: "a node that fails holds the rollout",
    world: { nodes: ["a", "b"], controllers: 1 },
    async run(world) {
      const at = (name: string) => ({ source: { hostPath: { path: source(name), type: "Directory" as const } } });
      for (const { people } of world.nodes.values()) people.makeDirectory(source("old"));
      world.cluster.createSet("data", {
        volume: at("old"),
        mounts: [target("data")],
        rollout: { maxUnavailable: 1, onFailure: "Pause" },
      });
      await world.settle();
      world.cluster.changeSet("data", { volume: at("new") });
      await world.until("the rollout to be held", () => world.cluster.setReason("data", "RolloutPaused"));
      await world.sleep(10_000);
      // The other one has lost its mount, or will when it hears of it.
      const showsOld = ({ machine }: SimNode) => machine.shows(target("data"), source("old"));
      await world.until("one node to be as it was", () => [...world.nodes.values()].filter(showsOld).length === 1);
      for (const { people } of world.nodes.values()) people.makeDirectory(source("new"));
      await world.settle();
    },
  },
  {
    name: "every connection goes dead in silence, and no agent is taken for lost",
    world: { nodes: ["a", "b"], controllers: 1 },
    async run(world) {
      world.cluster.createSet("scratch", { volume: memory, mounts: [target("scratch")] });
      await world.settle();
      // Every agent has renewed its Lease, so that it is known to live; and not just now, or the dead watch would be
      // found before the Lease has run out, however late it is.
      await world.sleep(120_000);
      world.network.silencedAt = world.scheduler.now;
      await world.sleep(240_000);
      await world.settle();
    },
  },
  {
    name: "the answer to a write gets lost while a set changes",
    world: three,
    async run(world) {
      world.cluster.createSet("scratch", { volume: memory, mounts: [target("old")] });
      await world.settle();
      const { fault } = world.network;
      let lost = false;
      world.network.fault = (request, random) => {
        if (lost || request.method !== "PATCH" || !/nodevolumeintents\/[^/]+$/.test(request.path)) {
          return fault(request, random);
        }
        lost = true;
        return "lost";
      };
      world.cluster.changeSet("scratch", { mounts: [target("new")] });
      await world.settle();
    },
  },
  {
    name: "two sets want one path",
    world: one,
    async run(world) {
      world.cluster.createSet("first", { volume: memory, mounts: [target("same")] });
      await world.settle();
      world.cluster.createSet("second", { volume: memory, mounts: [target("same")] });
      await world.settle({ sets: { first: "Conflict", second: "Conflict" } });
      world.cluster.deleteSet("first");
      await world.settle();
    },
  },
  {
    name: "the leader is killed while it works",
    world: { nodes: ["a", "b"], controllers: 2 },
    async run(world) {
      world.cluster.createSet("scratch", { volume: memory, mounts: [target("scratch")] });
      await world.sleep(60);
      for (const controller of world.controllers) controller.kill();
      await world.settle();
      world.controllers[0]?.upgrade();
      world.cluster.deleteSet("scratch");
      await world.settle();
    },
  },
  {
    name: "a set that is retained",
    world: one,
    async run(world) {
      const { people } = world.node;
      people.makeDirectory(source("kept"));
      world.cluster.createSet("kept", {
        volume: { source: { hostPath: { path: source("kept") } } },
        mounts: [target("kept")],
        deletionPolicy: "Retain",
      });
      await world.settle();
      const [intent] = world.cluster.intents();
      world.cluster.deleteSet("kept");
      await world.until("the set to be gone", () => world.cluster.setGone("kept"));
      await world.settle({ kept: [intent?.metadata.name ?? ""] });
      await world.until("it to be mounted still", () => world.mountsOn(target("kept")) === 1, 0);
    },
  },
  {
    name: "an intent loses its finalizer, and the set makes it again",
    world: one,
    async run(world) {
      world.cluster.createSet("scratch", { volume: memory, mounts: [target("scratch")] });
      await world.settle();
      const [intent] = world.cluster.intents();
      world.mark(intent?.metadata.name ?? "");
      world.cluster.stripFinalizer(intent?.metadata.name ?? "");
      await world.settle();
    },
  },
  {
    name: "the node reboots while its set is deleted",
    world: one,
    async run(world) {
      world.cluster.createSet("scratch", { volume: memory, mounts: [target("scratch")] });
      await world.settle();
      const [intent] = world.cluster.intents();
      world.cluster.deleteSet("scratch");
      await world.sleep(25);
      world.node.agent.reboot();
      await world.settle({ mayBeKept: [intent?.metadata.name ?? ""] });
    },
  },
];
