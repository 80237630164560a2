import { type Scenario, source, target } from "./scenario.ts";

const memory = { emptyDir: { medium: "Memory" } } as const;

/** Volumes that pods use, as kubelet asks for them. */
export const podTargets: readonly Scenario[] = [
  {
    name: "pods share a volume, lose it to a person, leave the intent, and end",
    async run(world) {
      const { kubelet, people } = world.node;
      const volume = world.cluster.createIntent("pods", {
        source: memory,
        mounts: [target("host")],
        pods: [pod("a"), pod("b")],
      });
      kubelet.run("a");
      kubelet.run("b");
      await world.settle();
      world.mark(volume);
      people.unmount(kubelet.target("a"));
      await world.settle();
      world.cluster.change(volume, { pods: [pod("b")] });
      await world.sleep(3_000);
      kubelet.end("a");
      await world.settle();
      world.cluster.deleteIntent(volume);
      await world.sleep(3_000);
      kubelet.end("b");
      await world.settle();
    },
  },
  {
    name: "a pod whose volume comes too late, and a pod without an intent",
    async run(world) {
      const { kubelet, people } = world.node;
      kubelet.run("a");
      kubelet.run("nobody");
      const late = { hostPath: { path: source("late"), type: "" as const } };
      const volume = world.cluster.createIntent("late", { source: late, mounts: [target("late")], pods: [pod("a")] });
      await world.sleep(112_000);
      kubelet.end("nobody");
      people.makeDirectory(source("late"));
      await world.settle();
      kubelet.end("a");
      world.cluster.change(volume, { pods: [] });
      await world.settle();
      world.cluster.deleteIntent(volume);
      await world.settle();
    },
  },
];

function pod(uid: string) {
  return { uid, namespace: "team", name: `pod-${uid}`, volume: "data", readOnly: false };
}
