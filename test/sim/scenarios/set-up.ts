import { type Scenario, source, target } from "./scenario.ts";

/** Each kind of volume is mounted, used and released. */
export const setUp: readonly Scenario[] = [
  {
    name: "emptyDir in memory",
    async run(world) {
      const volume = world.cluster.createIntent("scratch", {
        source: { emptyDir: { medium: "Memory", sizeLimit: "64Mi" } },
        mounts: [target("scratch")],
      });
      await world.settle();
      world.mark(volume);
      world.cluster.deleteIntent(volume);
      await world.settle();
    },
  },
  {
    name: "emptyDir on disk",
    async run(world) {
      const volume = world.cluster.createIntent("scratch", { source: { emptyDir: {} }, mounts: [target("scratch")] });
      await world.settle();
      world.mark(volume);
      await world.settle();
      world.cluster.deleteIntent(volume);
      await world.settle();
    },
  },
  {
    name: "git and image",
    async run(world) {
      const { people } = world.node;
      const revision = "0123456789".repeat(4);
      const reference = `registry.example/model@sha256:${"0123456789abcdef".repeat(4)}`;
      const volumes = [
        world.cluster.createIntent("app", {
          source: { git: { repository: "https://git.example/app.git", revision } },
          mounts: [target("app")],
        }),
        world.cluster.createIntent("model", { source: { image: { reference } }, mounts: [target("model")] }),
      ];
      await world.settle();
      const shown = (name: string) => people.read(`${target(name)}/version`);
      const both = () => shown("app") === revision && shown("model") === reference;
      await world.until("the commit and the image to be shown", both, 0);
      for (const volume of volumes) world.cluster.deleteIntent(volume);
      await world.settle();
    },
  },
  {
    name: "hostPath",
    async run(world) {
      const { people } = world.node;
      people.makeDirectory(source("pictures"));
      people.write(source("pictures/canary"), "kept");
      const volume = world.cluster.createIntent("pictures", {
        source: { hostPath: { path: source("pictures"), type: "Directory" } },
        mounts: [target("pictures")],
      });
      world.canaries.set(volume, "kept");
      await world.settle();
      world.cluster.deleteIntent(volume);
      await world.settle();
      await world.until("the host's own files to be there", () => people.read(source("pictures/canary")) === "kept", 0);
    },
  },
  {
    name: "hostPath made, as a directory and as a file",
    async run(world) {
      const { people } = world.node;
      const names = [
        world.cluster.createIntent("made", {
          source: { hostPath: { path: source("deep/made"), type: "DirectoryOrCreate" } },
          mounts: [target("made")],
        }),
        world.cluster.createIntent("file", {
          source: { hostPath: { path: source("file"), type: "FileOrCreate" } },
          mounts: [target("file")],
        }),
      ];
      await world.settle();
      for (const name of names) world.cluster.deleteIntent(name);
      await world.settle();
      const made = () => people.exists(source("deep/made")) && people.exists(source("file"));
      await world.until("what was made for a hostPath to stay", made, 0);
    },
  },
  {
    name: "hostPath through a link, waited for",
    async run(world) {
      const { people } = world.node;
      const volume = world.cluster.createIntent("linked", {
        source: { hostPath: { path: source("current"), type: "Directory" } },
        mounts: [target("linked")],
      });
      await world.settle({ blocked: { [volume]: "SourceNotFound" } });
      people.makeDirectory(source("v1"));
      people.link(source("current"), "v1");
      await world.settle();
      world.cluster.deleteIntent(volume);
      await world.settle();
    },
  },
  {
    name: "configMap and secret",
    async run(world) {
      const intents = [
        world.cluster.createIntent("settings", {
          source: { configMap: { namespace: "default", name: "settings" } },
          mounts: [target("settings")],
        }),
        world.cluster.createIntent("login", {
          source: { secret: { namespace: "default", secretName: "login" } },
          mounts: [target("login")],
        }),
      ];
      const [settings = "", login = ""] = intents;
      await world.settle({ blocked: { [settings]: "ConfigMapNotFound", [login]: "SecretNotFound" } });
      world.cluster.configMap("settings", { colour: "blue" });
      world.cluster.secret("login", "1");
      await world.settle();
      for (const intent of intents) world.cluster.deleteIntent(intent);
      await world.settle();
    },
  },
  {
    name: "local directory",
    async run(world) {
      const { people } = world.node;
      people.makeDirectory(source("local"));
      const volume = world.cluster.createIntent("local", {
        source: { local: { path: source("local") } },
        mounts: [target("local")],
      });
      await world.settle();
      world.mark(volume);
      await world.settle();
      world.cluster.deleteIntent(volume);
      await world.settle();
      await world.until("the data to be there", () => people.exists(source("local/canary")), 0);
    },
  },
  {
    name: "two mounts, one of them read-only",
    async run(world) {
      const volume = world.cluster.createIntent("shared", {
        source: { emptyDir: { medium: "Memory" } },
        mounts: [target("writer"), { path: target("reader"), readOnly: true, mountOptions: ["noexec"] }],
      });
      await world.settle();
      world.mark(volume);
      await world.settle();
      world.cluster.deleteIntent(volume);
      await world.settle();
    },
  },
];
