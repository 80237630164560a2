import { type Scenario, target } from "./scenario.ts";

const memory = { source: { emptyDir: { medium: "Memory" } } } as const;
const allowedNamespaces = { names: ["default"] };
const two = { nodes: ["a", "b"], controllers: 2 } as const;

/** Nodes and pods wait for volumes: the controller opens nodes, and takes pods' gates off. No scheduler runs here. */
export const waiting: readonly Scenario[] = [
  {
    name: "nodes are closed until their volume is there, whoever comes and goes",
    world: two,
    async run(world) {
      const mounts = [target("scratch")];
      world.cluster.createSet("scratch", { volume: memory, mounts, nodeReadiness: "Taint" });
      await world.settle();
      world.addNode("c");
      world.cluster.createSet("other", { volume: memory, mounts: [target("other")], nodeReadiness: "Condition" });
      await world.settle();
      world.cluster.changeSet("scratch", { mounts: [{ path: target("scratch"), readOnly: true }] });
      await world.settle();
      world.cluster.deleteSet("other");
      world.cluster.changeSet("scratch", { nodeReadiness: "Ignored" });
      await world.settle();
    },
  },
  {
    name: "a pod waits at its gate until the set is there",
    world: two,
    async run(world) {
      world.cluster.createGatedPod("reader", { set: "scratch" }, ["nodevolume.dev/volumes"]);
      world.cluster.createGatedPod("beside", {}, ["nodevolume.dev/scratch"]);
      world.cluster.createSet("scratch", { volume: memory, mounts: [target("scratch")], allowedNamespaces });
      await world.settle();
      world.cluster.createGatedPod("next", { set: "scratch" }, ["nodevolume.dev/volumes", "nodevolume.dev/scratch"]);
      await world.settle();
      for (const name of ["reader", "beside", "next"]) world.cluster.deletePod(name);
      await world.settle();
    },
  },
];
