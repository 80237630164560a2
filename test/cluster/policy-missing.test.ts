import { join } from "node:path";
import { expect } from "chai";
import { untilEnforced } from "../../hack/lib/control-plane/install.ts";
import { root } from "../../hack/lib/root.ts";
import { findCondition } from "../../src/api/conditions.ts";
import type { NodeVolumeSet, NodeVolumeState } from "../../src/api/types.gen.ts";
import { testWorld, type World } from "../lib/world.ts";

const name = "without-policies";
const path = `/mnt/nodevolume/${name}`;
const patience = 60_000;
/** Time for two looks more, 54 to 66 s apart: the first may meet an API server that does not answer. */
const looksMs = 150_000;

describe("admission policies that are missing, to the processes that run", () => {
  let world: World;

  before(async function () {
    world = await testWorld(this);
    await world.apply(name, {
      volume: { source: { emptyDir: { medium: "Memory" } } },
      mounts: [{ name: "host", path }],
    });
    await world.objects.ready(name, 3, patience);
  });
  after(async () => {
    if (world === undefined) return;
    await inForce();
    await world.remove(name);
  });

  const apply = () => world.cluster.adminKubectl.run(["apply", "-k", join(root, "config/policy")]);
  /** As whoever comes next needs it. */
  async function inForce(): Promise<void> {
    await apply();
    await untilEnforced(world.cluster.controlPlane);
  }
  const said = (object: NodeVolumeSet | NodeVolumeState | undefined) =>
    findCondition(object?.status?.conditions, "PoliciesInForce");
  const ofNode = () => said(world.objects.states.get(world.nodes[0].name));
  const ofSet = () => said(world.objects.sets.get(name));

  /** Both look when they start, and each ten minutes from then on. */
  async function startAnew(): Promise<void> {
    const [node] = world.nodes;
    for (const process of [node.agent, world.controller]) process.kill("SIGTERM");
    await Promise.all([node.agent.ended, world.controller.ended]);
    node.agent = node.startAgent();
    world.controller = await world.startController();
  }

  it("are told of on the node and on sets, with what is mounted left as it is, until they are back", async function () {
    this.timeout(4 * looksMs);
    const { adminKubectl } = world.cluster;
    const bindings = (await adminKubectl.run(["get", "validatingadmissionpolicybindings", "-o", "name"])).split("\n");
    await adminKubectl.run(["delete", ...bindings.filter((one) => one.includes("/nodevolume-"))]);
    await untilEnforced(world.cluster.controlPlane, false);
    const before = await world.nodes[0].mountsAt(path);
    await startAnew();
    await world.objects.until("the agent to say so", looksMs, () => ofNode() !== undefined);
    expect(ofNode()).to.include({ status: "False", reason: "PolicyMissing" });
    await world.objects.until("the controller to say so", looksMs, () => ofSet() !== undefined);
    expect(ofSet()?.message).to.contain("nodevolume-intents").and.contain("apply config/policy");
    expect(await world.nodes[0].mountsAt(path)).to.deep.equal(before);
    expect(before).to.have.length(1);

    await inForce();
    await startAnew();
    await world.objects.until("both to say no more", looksMs, () => ofNode() === undefined && ofSet() === undefined);
  });
});
