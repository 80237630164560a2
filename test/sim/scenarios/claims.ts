import { attachmentViews } from "../invariants/attachment-view.ts";
import type { World } from "../world.ts";
import { bound, boundAndUsed, fast, leave, move, network, ofClaim, use, write } from "./attach.ts";
import { type Scenario, target } from "./scenario.ts";

const beside = { nodes: ["a", "b"], controllers: 2, drivers: [network], kubeControllerManager: true } as const;
const two = { nodes: ["a", "b"], controllers: 1, drivers: [network] } as const;
const grownBytes = 2 ** 31;

/** Claims beside those who also use them, and nodes that are lost. */
export const claims: readonly Scenario[] = [
  {
    name: "kube-controller-manager is restarted again and again while we hold attachments",
    world: beside,
    async run(world) {
      bound(world, "ours");
      bound(world, "theirs");
      use(world, "ours");
      world.csi.cluster.createPod("pod", "theirs", "a");
      await world.settle();
      write(world, "a", "kept");
      const before = attachmentsOf(world);
      for (let round = 0; round < 3; round++) {
        world.csi.kubeControllerManager?.kill();
        await world.sleep(4_000);
      }
      await world.settle();
      await world.until("the same attachments to be there", () => attachmentsOf(world) === before, 0);
      world.csi.cluster.deletePod("pod");
      await leave(world);
    },
  },
  {
    name: "a claim that a pod uses is waited for, and denied to pods afterwards",
    world: { ...beside, controllers: 1 },
    async run(world) {
      bound(world, "claim");
      world.csi.cluster.createPod("first", "claim", "b");
      await world.sleep(2_000);
      use(world);
      await world.sleep(10_000);
      const ours = () => attachmentViews(world.server).some(({ name }) => name.startsWith("nvi-"));
      await world.until("nothing of ours to be attached", () => !ours(), 0);
      world.csi.kubeControllerManager?.kill(20_000);
      world.csi.cluster.deletePod("first"); // and what it had mounted is taken down when its controller is back
      await world.settle();
      await world.until("a pod to be turned away", () => !world.csi.cluster.createPod("second", "claim", "b"), 0);
      await leave(world);
    },
  },
  {
    name: "a pod slips in while its claim is being reserved",
    world: { ...beside, controllers: 1 },
    async run(world) {
      boundAndUsed(world);
      await world.until("the claim to be marked", () => world.csi.cluster.isHeld("claim"));
      await world.sleep(50);
      world.csi.cluster.createPod("first", "claim", "a"); // the policy has not seen the mark yet, as a rule
      await world.sleep(30_000);
      world.csi.cluster.deletePod("first");
      await world.settle();
      await leave(world);
    },
  },
  {
    name: "a claim is reserved by its owner, who lets a pod in for a moment",
    world: { ...beside, controllers: 1 },
    async run(world) {
      for (const name of ["other", "claim"]) bound(world, name);
      world.cluster.labelNode("a", { disk: "fast" });
      world.csi.cluster.reserve("claim", true);
      world.cluster.createSet("other", { ...ofClaim("other"), ...fast, mounts: [target("other")] });
      await world.settle(); // and the controller has seen the label for long
      world.csi.cluster.reserve("claim", false);
      world.csi.cluster.reserve("claim", true);
      world.cluster.createSet("data", { ...ofClaim("claim"), ...fast });
      await world.sleep(700);
      // The policy has not seen that it is reserved again.
      const admitted = world.csi.cluster.createPod("first", "claim", "b");
      await world.sleep(30_000);
      const attached = () =>
        attachmentViews(world.server).some((one) => one.name.startsWith("nvi-") && one.handle === "vol-claim");
      if (admitted) await world.until("nothing of ours to be attached", () => !attached(), 0);
      world.csi.cluster.deletePod("first");
      await world.settle();
      world.csi.cluster.reserve("claim", false);
      await world.sleep(2_000);
      await world.until("a pod to be turned away", () => !world.csi.cluster.createPod("second", "claim", "b"), 0);
      for (const name of ["data", "other"]) world.cluster.deleteSet(name);
      await world.settle();
    },
  },
  {
    name: "a claim allows its set late, and takes that back",
    world: two,
    async run(world) {
      const says = { sets: { data: "ClaimNotAllowed" } };
      bound(world, "claim", { labels: {} });
      use(world);
      await world.settle(says);
      await world.until("no node to be asked", () => world.cluster.intents().length === 0, 0);
      world.csi.cluster.allow("claim", "data", true);
      await world.settle();
      write(world, "a", "kept");
      world.csi.cluster.allow("claim", "data", false);
      await world.settle(says);
      await world.until("it to be mounted still", () => world.mountsOn(target("data")) === 1, 0);
      await leave(world);
    },
  },
  {
    name: "a node is lost, and out of service",
    world: two,
    async run(world) {
      boundAndUsed(world);
      await world.settle();
      const lost = world.cluster.intents().map(({ metadata }) => metadata.name);
      world.node.agent.powerOff();
      move(world);
      await world.sleep(60_000);
      const onlyA = () => attachmentViews(world.server).every(({ node }) => node === "a");
      await world.until("it to be attached to the lost node alone", onlyA, 0);
      world.cluster.outOfService("a", true);
      const onB = ({ spec, status }: (typeof intents)[number]) => spec.nodeName === "b" && status.state === "Mounted";
      const intents = world.cluster.intents();
      await world.until("it to be mounted on the other node", () => world.cluster.intents().some(onB));
      world.node.agent.powerOn();
      await world.sleep(30_000);
      world.cluster.outOfService("a", false);
      await world.settle({ mayBeKept: lost });
    },
  },
  {
    name: "a claim grows",
    world: two,
    async run(world) {
      boundAndUsed(world);
      await world.settle();
      const volume = world.csi.storage.volumes.get("vol-claim");
      if (volume === undefined) throw new Error("there is no volume");
      world.csi.cluster.grow("claim", volume, grownBytes);
      const grown = () => world.csi.cluster.claimCapacity("claim") === String(grownBytes);
      await world.until("the claim to have grown", () => grown() || refused(world));
      await world.settle();
      await leave(world);
    },
  },
  {
    name: "somebody deletes the attachment of a volume that is in use",
    world: two,
    async run(world) {
      boundAndUsed(world);
      await world.settle();
      const [attachment] = attachmentViews(world.server);
      if (attachment !== undefined) world.csi.cluster.deleteAttachment(attachment.name);
      await world.settle();
      await world.until("it to be mounted still", () => world.mountsOn(target("data")) === 1, 0);
      await leave(world);
    },
  },
  {
    name: "two nodes want a single-node claim: one has it, then the other",
    world: two,
    async run(world) {
      bound(world, "claim");
      for (const node of ["a", "b"]) world.cluster.labelNode(node, { disk: "fast" });
      world.cluster.createSet("data", { ...ofClaim("claim"), ...fast });
      const holders = () => world.cluster.intents().filter(({ status }) => status.state === "Mounted");
      await world.until("one to have it", () => holders().length === 1);
      const [first] = holders();
      const node = first?.spec.nodeName ?? "";
      await world.sleep(20_000);
      world.cluster.labelNode(node, { disk: null });
      await world.settle();
      await world.until("the other one to have it", () => holders().some(({ spec }) => spec.nodeName !== node), 0);
      await leave(world);
    },
  },
];

/** The driver has said that this size will never be: in bad weather it says anything. */
function refused(world: World): boolean {
  return world.cluster.intents().some(({ status }) => status.expansion !== undefined);
}

function attachmentsOf({ server }: World): string {
  return attachmentViews(server)
    .map(({ name, uid }) => `${name} ${uid}`)
    .sort()
    .join();
}
