import { bound, network } from "./attach.ts";
import { type Scenario, target } from "./scenario.ts";

const memory = { source: { emptyDir: { medium: "Memory" } } } as const;
const allowedNamespaces = { names: ["default"] };
const two = { nodes: ["a", "b"], controllers: 2 } as const;

/** Pods ask for volumes of their nodes: the controller lists them. No kubelet asks for a target here. */
export const pods: readonly Scenario[] = [
  {
    name: "a set without mounts is where pods use it, while they do",
    world: two,
    async run(world) {
      world.cluster.createSet("scratch", { volume: memory, mounts: [], allowedNamespaces });
      await world.settle();
      world.cluster.createPod("first", "a", { set: "scratch" });
      await world.settle();
      world.cluster.createPod("second", "a", { set: "scratch" });
      world.cluster.createPod("other", "b", { set: "scratch" });
      await world.settle();
      world.cluster.endPod("other");
      world.cluster.deletePod("first");
      world.cluster.createPod("first", "a", { set: "scratch" }); // as a StatefulSet makes it anew
      await world.settle();
      for (const name of ["first", "second"]) world.cluster.deletePod(name);
      await world.settle();
      await world.until("no intent to be left", () => world.cluster.intents().length === 0, 0);
    },
  },
  {
    name: "pods come and go beside the mounts of a set, which is deleted under them",
    world: two,
    async run(world) {
      const mounts = [target("scratch")];
      world.cluster.createSet("scratch", { volume: memory, mounts, allowedNamespaces });
      world.cluster.createPod("first", "a", { set: "scratch" });
      await world.settle();
      world.cluster.changeSet("scratch", { mounts: [] });
      await world.settle();
      world.cluster.changeSet("scratch", { mounts });
      world.cluster.createPod("second", "b", { set: "scratch" });
      await world.settle();
      world.cluster.deleteSet("scratch");
      await world.until("the set to be gone", () => world.cluster.setGone("scratch"));
      for (const name of ["first", "second"]) world.cluster.deletePod(name);
      await world.settle();
    },
  },
  {
    name: "a pod's claim is attached for it, and for the next pod on another node",
    world: { ...two, controllers: 1, drivers: [network] },
    async run(world) {
      bound(world, "claim");
      world.cluster.createPod("first", "a", { persistentVolumeClaim: "claim" });
      await world.settle();
      world.cluster.createPod("beside", "a", { persistentVolumeClaim: "claim" });
      await world.settle();
      for (const name of ["first", "beside"]) world.cluster.deletePod(name);
      world.cluster.createPod("next", "b", { persistentVolumeClaim: "claim" });
      await world.settle();
      world.cluster.deletePod("next");
      await world.settle();
    },
  },
];
