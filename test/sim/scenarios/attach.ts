import type { DriverKind } from "../csi/storage.ts";
import { attachmentViews } from "../invariants/attachment-view.ts";
import type { World } from "../world.ts";
import { type Scenario, target } from "./scenario.ts";

/** A driver whose volumes are attached to a node first. */
export const network: DriverKind = {
  name: "net.csi.sim",
  attach: true,
  stageUnstage: true,
  expand: true,
  serializes: true,
};

/** A candidate that stands by costs every run: where leaders change, there are two, elsewhere the one comes back. */
const one = { nodes: ["a"], controllers: 1, drivers: [network] } as const;
const two = { nodes: ["a", "b"], controllers: 2, drivers: [network] } as const;
export const fast = { nodeSelector: { disk: "fast" } } as const;

/** A set with a volume of the driver, by its own name or by a claim. */
function ofDriver(handle: string) {
  return { volume: { source: { csi: { driver: network.name, volumeHandle: handle } } }, mounts: [target("data")] };
}

export function ofClaim(claimName: string) {
  const source = { persistentVolumeClaim: { namespace: "default", claimName } };
  return { volume: { source }, mounts: [target("data")] };
}

interface BoundOptions {
  readonly singleNode?: boolean;
  /** Of the claim; if not given, those by which it allows the sets of stories. */
  readonly labels?: { [key: string]: string };
}

export function bound(world: World, name: string, { labels, ...options }: BoundOptions = {}): void {
  world.csi.cluster.boundClaim(name, world.csi.volume(`vol-${name}`, options), labels);
}

/** The set is on the node that is fast: `a`, until it moves. */
export function use(world: World, claimName = "claim"): void {
  world.cluster.labelNode("a", { disk: "fast" });
  world.cluster.createSet("data", { ...ofClaim(claimName), ...fast });
}

export function boundAndUsed(world: World): void {
  bound(world, "claim");
  use(world);
}

export function move(world: World): void {
  world.cluster.labelNode("a", { disk: null });
  world.cluster.labelNode("b", { disk: "fast" });
}

export async function leave(world: World): Promise<void> {
  world.cluster.deleteSet("data");
  await world.settle();
}

/** The real controller attaches, grants and detaches. */
export const attach: readonly Scenario[] = [
  {
    name: "a CSI volume is attached, and detached when its set has gone",
    world: one,
    async run(world) {
      world.csi.volume("vol-1");
      world.cluster.createSet("data", ofDriver("vol-1"));
      await world.settle();
      await leave(world);
    },
  },
  {
    name: "a bound claim",
    world: one,
    async run(world) {
      bound(world, "claim");
      world.cluster.createSet("data", ofClaim("claim"));
      await world.settle();
      await leave(world);
    },
  },
  {
    name: "a single-node claim moves to another node, with what is in it",
    world: two,
    async run(world) {
      boundAndUsed(world);
      await world.settle();
      write(world, "a", "moved");
      move(world);
      await world.settle();
      await world.until("the data to have come along", () => read(world, "b") === "moved", 0);
      await leave(world);
    },
  },
  {
    name: "detach waits for the acknowledgement",
    world: two,
    async run(world) {
      boundAndUsed(world);
      await world.settle();
      const { people } = world.node;
      const program = people.use(target("data"));
      const container = people.container(target("data"));
      move(world);
      const attached = () => attachmentViews(world.server).some(({ node, deleting }) => node === "a" && !deleting);
      for (const user of [program, container]) {
        await world.sleep(7_000);
        await world.until("it to be attached still", attached, 0);
        people.end(user);
      }
      await world.settle();
      await leave(world);
    },
  },
  {
    name: "an intent with an attachment loses its finalizer, and the set makes it again",
    world: one,
    async run(world) {
      bound(world, "claim");
      world.cluster.createSet("data", ofClaim("claim"));
      await world.settle();
      write(world, "a", "kept");
      const [intent] = world.cluster.intents();
      world.cluster.stripFinalizer(intent?.metadata.name ?? "");
      await world.settle();
      await world.until("the data to be there still", () => read(world, "a") === "kept", 0);
      await leave(world);
    },
  },
  {
    name: "a shared claim on two nodes",
    world: { ...two, controllers: 1 },
    async run(world) {
      bound(world, "claim", { singleNode: false });
      world.cluster.createSet("data", ofClaim("claim"));
      await world.settle();
      await leave(world);
    },
  },
];

export function write(world: World, node: string, content: string): void {
  world.nodes.get(node)?.people.write(`${target("data")}/canary`, content, "consumer");
}

function read(world: World, node: string): string | undefined {
  return world.nodes.get(node)?.people.read(`${target("data")}/canary`);
}
