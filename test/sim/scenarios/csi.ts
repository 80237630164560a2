import type { DriverKind } from "../csi/storage.ts";
import { secretText } from "../invariants/secret-rules.ts";
import { pointOf } from "../kernel/lookup.ts";
import type { World } from "../world.ts";
import { type Scenario, target } from "./scenario.ts";

/** A driver without attachments: the agent alone decides. */
export const local: DriverKind = {
  name: "local.csi.sim",
  attach: false,
  stageUnstage: true,
  expand: false,
  serializes: true,
};

const one = { nodes: ["a"], drivers: [local] } as const;

/** CSI volumes that are not attached, granted by the fake controller. */
export const csi: readonly Scenario[] = [
  {
    name: "a CSI volume that needs no attachment",
    world: one,
    async run(world) {
      world.csi.volume("vol-1");
      const volume = world.cluster.createIntent("csi", {
        source: source("vol-1"),
        mounts: [target("one"), target("two")],
      });
      await world.settle();
      world.mark(volume);
      world.cluster.change(volume, { mounts: [target("one")] });
      await world.settle();
      world.cluster.deleteIntent(volume);
      await world.settle();
    },
  },
  {
    name: "a CSI driver that comes late",
    world: one,
    async run(world) {
      world.csi.volume("vol-1");
      for (const driver of world.csi.drivers) driver.stop(true);
      const volume = world.cluster.createIntent("csi", { source: source("vol-1"), mounts: [target("late")] });
      await world.sleep(10_000);
      for (const driver of world.csi.drivers) driver.start();
      await world.settle();
      for (const driver of world.csi.drivers) driver.stop(true);
      world.cluster.deleteIntent(volume);
      await world.sleep(10_000);
      for (const driver of world.csi.drivers) driver.start();
      await world.settle();
    },
  },
  {
    name: "a CSI driver hangs, and delays no other",
    world: {
      nodes: ["a"],
      drivers: [
        { ...local, stats: true },
        { ...local, stats: true, name: "other.csi.sim" },
      ],
    },
    async run(world) {
      const [hung, other] = world.csi.kinds;
      if (hung === undefined || other === undefined) throw new Error("a driver is missing");
      world.csi.volume("vol-1", { driver: hung });
      world.csi.volume("vol-2", { driver: other });
      world.node.drivers.get(hung.name)?.hang();
      const first = world.cluster.createIntent("hung", { source: source("vol-1"), mounts: [target("hung")] });
      const csi = { driver: other.name, volumeHandle: "vol-2" };
      const second = world.cluster.createIntent("free", { source: { csi }, mounts: [target("free")] });
      await world.until("the other volume to be mounted", () => world.cluster.reason(second) === "Mounted");
      await world.sleep(150_000);
      world.cluster.deleteIntent(first);
      await world.sleep(5_000);
      world.node.drivers.get(hung.name)?.letGo();
      await world.settle();
    },
  },
  {
    name: "what a CSI driver has mounted is unmounted behind the back",
    world: one,
    async run(world) {
      world.csi.volume("vol-1");
      const volume = world.cluster.createIntent("csi", { source: source("vol-1"), mounts: [target("drift")] });
      await world.settle();
      world.mark(volume);
      for (const what of ["/mounts/", "/staging"]) {
        const found = driversMounts(world).find((point) => point.includes(what));
        if (found !== undefined) world.node.people.unmount(found);
        await world.settle();
      }
      world.node.people.unmount(target("drift"));
      await world.settle();
      world.cluster.deleteIntent(volume);
      await world.settle();
    },
  },
  {
    name: "a CSI volume with secrets, which the driver repeats",
    world: { nodes: ["a"], drivers: [{ ...local, password: `${secretText}1` }] },
    async run(world) {
      world.csi.volume("vol-1");
      world.cluster.secret("login", "0");
      const login = { namespace: "default", name: "login" };
      const csi = { ...source("vol-1").csi, nodeStageSecretRef: login, nodePublishSecretRef: login };
      const volume = world.cluster.createIntent("csi", { source: { csi }, mounts: [target("secret")] });
      const refused = () => world.cluster.reason(volume) === "DriverFailed";
      await world.until("the driver to refuse the password", refused);
      world.cluster.secret("login", "1");
      await world.settle();
      world.cluster.deleteIntent(volume);
      await world.settle();
      await world.until("no secret to be told", () => !`${world.trace}`.includes(secretText), 0);
    },
  },
  {
    name: "a call of a CSI driver that timed out takes effect, after the volume is to go",
    world: { nodes: ["a"], drivers: [{ ...local, serializes: false }] },
    async run(world) {
      world.csi.volume("vol-1");
      for (const driver of world.csi.drivers) driver.plan({ lateMs: 60_000 });
      const volume = world.cluster.createIntent("csi", { source: source("vol-1"), mounts: [target("late")] });
      await world.sleep(119_000);
      world.cluster.deleteIntent(volume);
      await world.sleep(10_000);
      world.skewMs = 3_600_000; // somebody sets the clocks: that makes no time pass
      await world.settle();
    },
  },
  {
    name: "the agent is killed in a call of a CSI driver, which takes effect late",
    world: { nodes: ["a"], drivers: [{ ...local, serializes: false }] },
    async run(world) {
      world.csi.volume("vol-1");
      for (const driver of world.csi.drivers) driver.plan({ lateMs: 100_000 });
      const volume = world.cluster.createIntent("csi", { source: source("vol-1"), mounts: [target("killed")] });
      await world.sleep(2_000);
      world.node.agent.kill();
      await world.until("it to be mounted", () => world.cluster.reason(volume) === "Mounted");
      world.cluster.deleteIntent(volume);
      await world.settle();
    },
  },
  {
    name: "a CSI driver asks to be called again, fails, hangs and comes back",
    world: { nodes: ["a"], drivers: [{ ...local, requiresRepublish: true, stats: true }] },
    async run(world) {
      world.csi.volume("vol-1");
      const mounts = [target("again"), target("as well")];
      const volume = world.cluster.createIntent("csi", { source: source("vol-1"), mounts });
      await world.settle();
      world.mark(volume);
      await publishedAgain(world, 2);
      const asked = () => world.csi.drivers.some((driver) => driver.done.has("NodeGetVolumeStats"));
      await world.until("the driver to be asked how full it is", asked);
      world.node.agent.kill();
      await publishedAgain(world, 2);
      for (const driver of world.csi.drivers) driver.plan("lost");
      for (const driver of world.csi.drivers) driver.plan({ code: "INTERNAL", carriedOut: false });
      await publishedAgain(world, 2);
      for (const driver of world.csi.drivers) driver.hang();
      await world.sleep(150_000);
      for (const driver of world.csi.drivers) driver.letGo();
      await publishedAgain(world, 1);
      world.cluster.deleteIntent(volume);
      await world.settle();
    },
  },
  {
    name: "a CSI driver asks to be called again, and mounts again each time",
    world: { nodes: ["a"], drivers: [{ ...local, requiresRepublish: true, stacks: true }] },
    async run(world) {
      world.csi.volume("vol-1");
      const volume = world.cluster.createIntent("csi", { source: source("vol-1"), mounts: [target("stack")] });
      await world.until("it to be mounted", () => world.cluster.reason(volume) === "Mounted");
      await publishedAgain(world, 3);
      await world.until("one layer each", () => new Set(driversMounts(world)).size === driversMounts(world).length);
      world.cluster.deleteIntent(volume);
      await world.settle();
    },
  },
  {
    name: "a CSI driver that stages nothing",
    world: { nodes: ["a"], drivers: [{ ...local, stageUnstage: false }] },
    async run(world) {
      world.csi.volume("vol-1");
      const volume = world.cluster.createIntent("csi", { source: source("vol-1"), mounts: [target("plain")] });
      await world.settle();
      world.cluster.change(volume, { mounts: [{ path: target("plain"), readOnly: true }] });
      await world.settle();
      world.cluster.deleteIntent(volume);
      await world.settle();
    },
  },
  {
    name: "the journal is lost with a CSI volume",
    world: one,
    async run(world) {
      const { agent, machine } = world.node;
      world.csi.volume("vol-1");
      const volume = world.cluster.createIntent("csi", { source: source("vol-1"), mounts: [target("lost")] });
      await world.settle();
      world.mark(volume);
      agent.stop();
      machine.journal.text = undefined;
      agent.start();
      await world.settle();
      world.cluster.deleteIntent(volume);
      await world.settle({ pointsMayBeLeft: true });
    },
  },
  {
    name: "the node reboots with a CSI volume",
    world: one,
    async run(world) {
      world.csi.volume("vol-1");
      const volume = world.cluster.createIntent("csi", { source: source("vol-1"), mounts: [target("reboot")] });
      await world.settle();
      world.mark(volume);
      world.node.agent.reboot();
      await world.settle();
      world.cluster.deleteIntent(volume);
      await world.settle();
    },
  },
];

function source(volumeHandle: string) {
  return { csi: { driver: local.name, volumeHandle } };
}

/** Until the driver has been called this many times more. */
async function publishedAgain(world: World, times: number): Promise<void> {
  const done = () => Math.max(...world.csi.drivers.map((driver) => driver.done.get("NodePublishVolume") ?? 0));
  const before = done();
  await world.until("the driver to be called again", () => done() >= before + times);
}

function driversMounts({ node: { machine } }: World): string[] {
  const mounts = [...machine.kernel.host.mounts].filter(({ maker }) => maker === "driver");
  return mounts.map((mount) => pointOf(mount) ?? "");
}
