import { type Scenario, source, target } from "./scenario.ts";

/** mode: Observe touches nothing. */
export const observe: readonly Scenario[] = [
  {
    name: "observed, then managed",
    async run(world) {
      const { people } = world.node;
      people.makeDirectory(source("seen"));
      const volume = world.cluster.createIntent("seen", {
        source: { hostPath: { path: source("seen") } },
        mounts: [target("seen")],
        mode: "Observe",
      });
      await world.settle();
      await world.until("it to say what it would do", () => world.cluster.reason(volume) === "WouldChange");
      await world.until("nothing to be mounted", () => world.mountsOn(target("seen")) === 0, 0);
      world.cluster.change(volume, { mode: "Manage" });
      await world.settle();
      world.cluster.deleteIntent(volume);
      await world.settle();
    },
  },
  {
    name: "observed and deleted",
    async run(world) {
      const { people } = world.node;
      people.makeDirectory(source("seen"));
      people.makeDirectory(target("seen"));
      people.bind(source("seen"), target("seen"));
      const volume = world.cluster.createIntent("seen", {
        source: { hostPath: { path: source("seen") } },
        mounts: [target("seen")],
        mode: "Observe",
      });
      await world.settle();
      await world.until("it to be as wanted", () => world.cluster.reason(volume) === "Observing");
      world.cluster.deleteIntent(volume);
      await world.settle();
      await world.until("their mount to be there", () => world.mountsOn(target("seen")) === 1, 0);
    },
  },
];
