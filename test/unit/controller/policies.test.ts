import { expect } from "chai";
import { setStatus } from "../../../src/controller/sets/set-status.ts";
import { applyPolicies, shipped } from "../shipped-policies.ts";
import { createFleet } from "./fleet.ts";
import { setEntry } from "./objects.ts";

describe("setStatus, of policies", () => {
  const rollout = { admitted: new Set<string>(), pausedBy: undefined, outdated: 0 };
  const remaining = { intents: 0, lost: [] };
  const about = {
    entry: setEntry("a"),
    nodes: [],
    rollout,
    remaining,
    selected: () => "none" as const,
    pods: undefined,
  };
  const conditions = (unguarded?: string) =>
    setStatus({ ...about, unguarded }, 0).conditions?.map(({ type, status, reason }) => `${type}=${status}/${reason}`);

  it("says that one is not in force, beside all else, and only then", () => {
    const others = ["Ready=False/NoNodesSelected", "Reconciling=True/NoNodesSelected", "Conflict=False/NoConflict"];
    expect(conditions("there is no policy")).to.deep.equal([...others, "PoliciesInForce=False/PolicyMissing"]);
    expect(conditions()).to.deep.equal(others);
  });
});

describe("the controller and the policy of the agents", () => {
  const bindings = "validatingadmissionpolicybindings";

  /** A set on two nodes, and a controller that looks at the policies. */
  async function story() {
    const fleet = createFleet();
    applyPolicies(fleet.api);
    for (const name of ["n0", "n1"]) fleet.node(name);
    fleet.set("a");
    const controller = fleet.start("c1", "None", false, true);
    await fleet.run(3_000);
    expect(fleet.conditions("a")[0]).to.equal("Ready=True/AllReady");
    const count = () => fleet.intents().length;
    return { fleet, controller, count };
  }

  it("counts acknowledgements while it is in force", async () => {
    const { fleet, controller, count } = await story();
    fleet.api.remove("nodevolumesets", "a");
    await fleet.run(3_000);
    expect(count()).to.equal(0);
    expect([controller.notReady(), controller.remark()]).to.deep.equal([undefined, undefined]);
  });

  it("is told at once that its binding is gone, is not ready, and counts no acknowledgement until agents had time to mend theirs", async () => {
    const { fleet, controller, count } = await story();
    fleet.api.remove(bindings, "nodevolume-agents");
    fleet.api.remove("nodevolumesets", "a");
    await fleet.run(3_000);
    expect(fleet.conditions("a")).to.include("PoliciesInForce=False/PolicyMissing");
    expect(fleet.api.objects("events").map((event) => event["reason"])).to.include("PolicyMissing");
    expect(controller.notReady())
      .to.contain("there is no ValidatingAdmissionPolicyBinding nodevolume-agents")
      .and.to.contain("Until then no acknowledgement of an agent counts");
    await fleet.run(600_000);
    expect(count(), "nothing was released").to.equal(2);

    fleet.api.apply(bindings, shipped("ValidatingAdmissionPolicyBinding", "nodevolume-agents") as never);
    await fleet.run(3_000);
    expect(controller.notReady()).to.equal(undefined);
    expect(fleet.conditions("a").join()).not.to.include("PoliciesInForce");
    await fleet.run(180_000);
    expect(count(), "not yet").to.equal(2);
    await fleet.run(90_000);
    expect(count()).to.equal(0);
  });

  it("counts none for a while after its binding was gone for less than it takes to look", async () => {
    const { fleet, controller, count } = await story();
    fleet.api.remove(bindings, "nodevolume-agents");
    fleet.api.apply(bindings, shipped("ValidatingAdmissionPolicyBinding", "nodevolume-agents") as never);
    fleet.api.remove("nodevolumesets", "a");
    await fleet.run(60_000);
    expect([count(), controller.notReady()]).to.deep.equal([2, undefined]);
    await fleet.run(240_000);
    expect(count()).to.equal(0);
  });

  it("believes no more what a node said whose agent was silent by then", async () => {
    const { fleet, count } = await story();
    fleet.api.remove(bindings, "nodevolume-agents");
    fleet.api.remove("nodevolumesets", "a");
    await fleet.run(3_000);
    fleet.agents.delete("n1");
    fleet.api.apply(bindings, shipped("ValidatingAdmissionPolicyBinding", "nodevolume-agents") as never);
    await fleet.run(600_000);
    expect(fleet.intents().map(({ spec, status }) => [spec.nodeName, status.state])).to.deep.equal([
      ["n1", "Released"],
    ]);
    fleet.api.fault = ({ path }) => (path.endsWith("/leases") ? { when: "before" } : undefined);
    fleet.api.breakWatches("error");
    await fleet.run(60_000);
    fleet.api.fault = () => undefined;
    await fleet.run(150_000);
    expect(count(), "that we watch again is no sign of life").to.equal(1);
    fleet.agents.add("n1");
    await fleet.run(120_000);
    expect(count()).to.equal(0);
  });

  it("has what waited released by the next controller as soon as that knows the policy, and after a change of nothing", async () => {
    const { fleet, controller, count } = await story();
    for (const name of ["n0", "n1"]) fleet.mute.add(name);
    fleet.api.remove("nodevolumesets", "a");
    await fleet.run(3_000);
    const stopped = controller.stop();
    await fleet.run(5_000);
    await stopped;
    fleet.mute.clear();
    await fleet.run(1_000);
    expect(count()).to.equal(2);
    fleet.start("c2", "None", false, true);
    await fleet.run(5_000);
    expect(count()).to.equal(0);

    fleet.set("b");
    await fleet.run(3_000);
    fleet.api.remove("nodevolumesets", "b");
    fleet.api.patch(bindings, "nodevolume-agents", { metadata: { annotations: { seen: "by somebody" } } });
    await fleet.run(5_000);
    expect(count()).to.equal(0);
  });

  it("counts none without that of the acknowledgements either", async () => {
    const { fleet, count } = await story();
    fleet.api.remove(bindings, "nodevolume-acknowledgements");
    fleet.api.remove("nodevolumesets", "a");
    await fleet.run(60_000);
    expect(count()).to.equal(2);
  });

  it("does without another policy, and says so; one that is only another leaves it ready", async () => {
    const { fleet, controller, count } = await story();
    const pods = shipped("ValidatingAdmissionPolicy", "nodevolume-pods");
    pods.spec.validations?.pop();
    fleet.api.apply("validatingadmissionpolicies", pods as never);
    await fleet.run(3_000);
    expect(controller.notReady()).to.equal(undefined);
    expect(controller.remark()).to.contain("nodevolume-pods (generation");
    expect(fleet.conditions("a")).to.include("PoliciesInForce=False/PolicyMissing");
    fleet.api.remove("nodevolumesets", "a");
    await fleet.run(3_000);
    expect(count()).to.equal(0);
  });
});
