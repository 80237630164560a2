import { type Scenario, source, target } from "./scenario.ts";

const memory = { emptyDir: { medium: "Memory" } } as const;

/** Somebody else works on what is mounted. */
export const drift: readonly Scenario[] = [
  {
    name: "unmounted behind the back",
    async run(world) {
      const volume = world.cluster.createIntent("gone", { source: memory, mounts: [target("gone")] });
      await world.settle();
      world.mark(volume);
      world.node.people.unmount(target("gone"));
      await world.settle();
    },
  },
  {
    name: "the staged file system unmounted, a target left: the data stays",
    async run(world) {
      const volume = world.cluster.createIntent("survivor", { source: memory, mounts: [target("survivor")] });
      await world.settle();
      world.mark(volume);
      world.node.people.unmount(world.stagingPath(volume));
      await world.settle();
      world.node.people.unmount(target("survivor"));
      await world.settle();
    },
  },
  {
    name: "remounted read-only by somebody",
    async run(world) {
      const volume = world.cluster.createIntent("flags", { source: memory, mounts: [target("flags")] });
      await world.settle();
      world.mark(volume);
      world.node.people.remount(target("flags"), { readOnly: true });
      await world.settle();
    },
  },
  {
    name: "a foreign mount on the target, before",
    async run(world) {
      const { people } = world.node;
      people.makeDirectory(target("taken"));
      people.mountTmpfs(target("taken"));
      people.write(`${target("taken")}/canary`, "theirs");
      const volume = world.cluster.createIntent("taken", { source: memory, mounts: [target("taken")] });
      await world.settle({ blocked: { [volume]: "ForeignMount" } });
      people.unmount(target("taken"));
      await world.settle();
      world.cluster.deleteIntent(volume);
      await world.settle();
      await world.until("their directory to be there", () => people.exists(target("taken")), 0);
    },
  },
  {
    name: "a foreign mount over ours",
    async run(world) {
      const { people } = world.node;
      const volume = world.cluster.createIntent("covered", { source: memory, mounts: [target("covered")] });
      await world.settle();
      world.mark(volume);
      people.mountTmpfs(target("covered"));
      await world.settle({ blocked: { [volume]: "ForeignMountOnTarget" } });
      world.cluster.deleteIntent(volume);
      await world.settle({ blocked: { [volume]: "ForeignMountOnTarget" } });
      people.unmount(target("covered"));
      await world.settle();
    },
  },
  {
    name: "a foreign mount over the directory that the target is in",
    async run(world) {
      const { people } = world.node;
      people.makeDirectory(target("deep"));
      const volume = world.cluster.createIntent("deep", { source: memory, mounts: [target("deep/inside")] });
      await world.settle();
      world.mark(volume);
      people.mountTmpfs(target("deep"));
      await world.settle({ blocked: { [volume]: "TargetCovered" } });
      people.unmount(target("deep"));
      await world.settle();
    },
  },
  {
    name: "ours unmounted and a foreign mount in its place",
    async run(world) {
      const { people } = world.node;
      const volume = world.cluster.createIntent("replaced", { source: memory, mounts: [target("replaced")] });
      await world.settle();
      world.mark(volume);
      const { agent } = world.node;
      agent.stop();
      people.unmount(target("replaced"));
      people.mountTmpfs(target("replaced"));
      agent.start();
      await world.settle({ blocked: { [volume]: "ForeignMount" } });
      people.unmount(target("replaced"));
      await world.settle();
    },
  },
  {
    name: "a mount that shows the same is adopted",
    async run(world) {
      const { people } = world.node;
      people.makeDirectory(source("same"));
      people.makeDirectory(target("same"));
      people.bind(source("same"), target("same"));
      const volume = world.cluster.createIntent("same", {
        source: { hostPath: { path: source("same") } },
        mounts: [target("same")],
        adopt: "IfSame",
      });
      await world.settle();
      world.cluster.deleteIntent(volume);
      await world.settle();
    },
  },
  {
    name: "the source renamed, and another in its place",
    async run(world) {
      const { people } = world.node;
      people.makeDirectory(source("pictures"));
      world.cluster.createIntent("pictures", {
        source: { hostPath: { path: source("pictures") } },
        mounts: [target("pictures")],
      });
      await world.settle();
      people.rename(source("pictures"), source("old"));
      people.makeDirectory(source("pictures"));
      await world.settle();
    },
  },
  {
    name: "the source removed, and made again later",
    async run(world) {
      const { people } = world.node;
      people.makeDirectory(source("pictures"));
      const volume = world.cluster.createIntent("pictures", {
        source: { hostPath: { path: source("pictures") } },
        mounts: [target("pictures")],
      });
      await world.settle();
      people.remove(source("pictures"));
      await world.settle({ blocked: { [volume]: "SourceNotFound" } });
      people.makeDirectory(source("pictures"));
      await world.settle();
    },
  },
];
