import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { untilEnforced } from "../../hack/lib/control-plane/install.ts";
import { slow, slowInGate } from "../../hack/lib/lanes/slow.ts";
import type { RunningProcess } from "../../hack/lib/process.ts";
import { root } from "../../hack/lib/root.ts";
import { until } from "../../hack/lib/until.ts";
import { findCondition } from "../../src/api/conditions.ts";
import type { NodeVolumeSet, NodeVolumeState } from "../../src/api/types.gen.ts";
import { letGuardGo } from "../lib/cluster/definitions-guard.ts";
import { expectStatus, patch, paths } from "../lib/cluster/policy-world.ts";
import { testWorld, type World } from "../lib/cluster/world.ts";

const name = "without-policies";
const witness = "after-the-forgery";
const path = `/mnt/nodevolume/${name}`;
const patience = 60_000;

describe("admission policies that are missing, to the processes that run", () => {
  let world: World;

  before(async function () {
    world = await testWorld(this);
    await apply();
  });
  afterEach(async () => {
    if (world === undefined) return;
    await inForce();
    // It believes no agent for some minutes after what it has seen.
    await controllerAnew();
    await world.remove(name, witness);
  });

  async function apply(): Promise<void> {
    await world.apply(name, {
      volume: { source: { emptyDir: { medium: "Memory" } } },
      mounts: [{ name: "host", path }],
    });
    await world.objects.ready(name, 3, patience);
  }
  /** As whoever comes next needs it. */
  async function inForce(): Promise<void> {
    // Apply makes what is missing, and leaves what somebody has added to a list; replace leaves nothing.
    for (const verb of ["apply", "replace"])
      await world.cluster.adminKubectl.run([verb, "-k", join(root, "config/policy")]);
    await untilEnforced(world.cluster.controlPlane);
  }
  async function controllerAnew(): Promise<void> {
    world.controller.kill("SIGTERM");
    await world.controller.ended;
    world.controller = await world.startController();
  }
  const removeBindings = (...names: string[]) =>
    world.cluster.adminKubectl.run(["delete", "validatingadmissionpolicybindings", ...names]);
  const said = (object: NodeVolumeSet | NodeVolumeState | undefined) =>
    findCondition(object?.status?.conditions, "PoliciesInForce");
  const ready = (set: string) => world.objects.sets.get(set)?.status?.ready;
  const ofNode = () => said(world.objects.states.get(world.nodes[0].name));
  const ofSet = () => said(world.objects.sets.get(name));

  slow(
    "are told of on the node and on sets, and make both unready, with what is mounted left as it is, until they are back",
    async () => {
      const [node] = world.nodes;
      const before = await node.mountsAt(path);
      const all = await world.cluster.adminKubectl.run(["get", "validatingadmissionpolicybindings", "-o", "name"]);
      await letGuardGo(world.cluster.adminKubectl);
      await removeBindings(...all.split("\n").flatMap((one) => /\/(nodevolume-.*)$/.exec(one)?.[1] ?? []));
      await world.objects.until("the agent to say so", patience, () => ofNode() !== undefined);
      expect(ofNode()).to.include({ status: "False", reason: "PolicyMissing" });
      await world.objects.until("the controller to say so", patience, () => ofSet() !== undefined);
      expect(ofSet()?.message).to.contain("nodevolume-intents").and.contain("apply config/policy");
      for (const process of [node.agent, world.controller]) {
        const { status, body } = await readyz(process);
        expect(status, process.name).to.equal(503);
        expect(body).to.contain("there is no ValidatingAdmissionPolicyBinding nodevolume-agents");
      }
      expect(await node.mountsAt(path)).to.deep.equal(before);
      expect(before).to.have.length(1);

      await inForce();
      await world.objects.until("both to say no more", patience, () => ofNode() === undefined && ofSet() === undefined);
      for (const process of [node.agent, world.controller]) {
        expect(await readyz(process), process.name).to.deep.equal({ status: 200, body: "ok\n" });
      }
    },
  );

  slow("one that was changed is told of with its generation and digest, and leaves all ready", async () => {
    await apply();
    const policy = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies/nodevolume-intents";
    const never = { name: "never", expression: "false" };
    const matchConditions = [never];
    expectStatus(200, await patch(world.cluster.admin, policy, { spec: { matchConditions } }));
    const both = () => ofNode() !== undefined && ofSet() !== undefined;
    await world.objects.until("both to say so", patience, both);
    for (const condition of [ofNode(), ofSet()]) {
      expect(condition?.message).to.match(
        / nodevolume-intents \(generation \d+\) is not that of .* its digest is [0-9a-f]{16}: /,
      );
    }
    for (const process of [world.nodes[0].agent, world.controller]) {
      const { status, body } = await readyz(process);
      expect(status, process.name).to.equal(200);
      expect(body).to.match(/^ok, but ValidatingAdmissionPolicy nodevolume-intents /);
    }
  });

  slowInGate(
    "that of the agents: what the agent of another node says of this one's volume counts for nothing",
    async () => {
      await apply();
      const [stranger, node] = world.nodes;
      node.agent.kill("SIGTERM");
      await node.agent.ended;
      try {
        const mounted = await node.mountsAt(path);
        const token = await world.cluster.token("nodevolume-agent", {
          kind: "Node",
          name: stranger.name,
          uid: stranger.uid,
        });
        const thief = world.cluster.as(token);
        await removeBindings("nodevolume-agents");
        await world.objects.until("the controller to say so", patience, () => ofSet() !== undefined);
        expect(ofSet()?.message).to.contain("no acknowledgement of an agent counts, and nothing is detached");

        await world.cluster.kubectl.run(["delete", "nodevolumesets", name, "--wait=false"]);
        const intentOf = () => world.objects.intentOn(name, node.name);
        await world.objects.until("its deletion", patience, () => intentOf()?.metadata.deletionTimestamp !== undefined);
        const { metadata, spec, status } = intentOf() ?? {};
        const forged = {
          ...{ observedUID: metadata?.uid, observedGeneration: metadata?.generation, grantID: spec?.grant?.id },
          ...{ state: "Released", inUse: false, agent: status?.agent },
        };
        const statusOf = `${paths.intents}/${metadata?.name}/status`;
        await until("the policy to be out of force", patience, async () => {
          return (await patch(thief, statusOf, { status: forged })).status === 200;
        });
        await world.objects.until("what was forged", patience, () => intentOf()?.status?.state === "Released");
        // What comes after it has been done, so it was looked at.
        await world.apply(witness, {
          volume: { source: { emptyDir: { medium: "Memory" } } },
          mounts: [{ name: "host", path: `${path}-2` }],
        });
        await world.objects.until("what comes after it", patience, () => ready(witness) === 2);
        expect(intentOf()?.metadata.finalizers).to.include("nodevolume.dev/in-use");
        expect(await node.mountsAt(path)).to.deep.equal(mounted);
        expect(mounted).to.have.length(1);
      } finally {
        await inForce();
        node.agent = node.startAgent();
      }
      await world.objects.until("the node's own word", patience, async () => (await node.mountsAt(path)).length === 0);
    },
  );
});

/** As its log says where. */
async function readyz({ logFile }: RunningProcess): Promise<{ status: number; body: string }> {
  const lines = readFileSync(logFile, "utf8").split("\n");
  const port = lines.flatMap((line) => /"serving metrics and health".*"port":(\d+)/.exec(line)?.[1] ?? []).at(-1);
  const answer = await fetch(`http://127.0.0.1:${port}/readyz`);
  return { status: answer.status, body: await answer.text() };
}
