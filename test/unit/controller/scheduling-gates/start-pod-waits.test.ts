import { expect } from "chai";
import { createFleet, type Fleet } from "../fleet.ts";

interface PodOptions {
  readonly gates?: readonly string[];
  readonly nodeName?: string;
  readonly set?: string;
  readonly spec?: object;
}

const volumes = "nodevolume.dev/volumes";

function pod(fleet: Fleet, name: string, { gates = [volumes], nodeName, set = "a", spec = {} }: PodOptions = {}): void {
  fleet.api.apply("pods", {
    metadata: { name, namespace: "team" },
    spec: {
      containers: [{ name: "c", volumeMounts: [{ name: "v" }] }],
      volumes: [{ name: "v", csi: { driver: "csi.nodevolume.dev", volumeAttributes: { set } } }],
      ...(gates.length > 0 && { schedulingGates: gates.map((gate) => ({ name: gate })) }),
      ...(nodeName !== undefined && { nodeName }),
      ...spec,
    },
    status: { phase: "Pending", conditions: [{ type: "PodScheduled", status: "False" }] },
  });
}

interface PodObject {
  spec: { schedulingGates?: { name: string }[]; nodeSelector?: object; affinity?: object };
  status: { conditions: { type: string; status: string; reason?: string; message?: string }[] };
}

const read = (fleet: Fleet, name: string) => fleet.api.object("pods", `team/${name}`) as unknown as PodObject;
const gatesOf = (fleet: Fleet, name: string) => (read(fleet, name).spec.schedulingGates ?? []).map((g) => g.name);
const shown = (fleet: Fleet, name: string) =>
  read(fleet, name).status.conditions.map(
    (c) => `${c.type}=${c.status}${c.reason === undefined ? "" : `/${c.reason}`}`,
  );
const told = (fleet: Fleet) =>
  fleet.api
    .objects("events")
    .filter((event) => (event["involvedObject"] as { kind: string }).kind === "Pod")
    .map((event) => `${event["type"]} ${event["reason"]}${event["count"] === 1 ? "" : ` ${event["count"]} times`}`);

async function fleetWith(set?: object): Promise<Fleet> {
  const fleet = createFleet();
  fleet.node("n0", { labels: { gpu: "yes" } });
  fleet.api.apply("namespaces", { metadata: { name: "team" } });
  if (set !== undefined) fleet.set("a", set);
  fleet.start();
  await fleet.run(3_000);
  return fleet;
}

const serving = { nodeSelector: { gpu: "yes" }, allowedNamespaces: { names: ["team"] } };

describe("startController: pods at scheduling gates", () => {
  it("go on with the nodes of the set, in one write, and nothing is told", async () => {
    const fleet = await fleetWith(serving);
    pod(fleet, "p", { gates: [volumes, "example.com/quota"], spec: { nodeSelector: { disk: "ssd" } } });
    await fleet.run(1_000);
    expect(gatesOf(fleet, "p")).to.deep.equal(["example.com/quota"]);
    expect(read(fleet, "p").spec.nodeSelector).to.deep.equal({ disk: "ssd", gpu: "yes" });
    await fleet.run(10_000);
    expect(fleet.writesOf("pods")).to.equal(1);
    expect(told(fleet)).to.deep.equal([]);
  });

  it("that came while Nodes could not be seen go on when they can", async () => {
    const fleet = await fleetWith(serving);
    const { fault } = fleet.api;
    fleet.api.fault = ({ path: at, query }) =>
      query?.["watch"] && at.endsWith("/nodes") ? { when: "before" } : undefined;
    fleet.api.breakWatches("error");
    await fleet.run(60_000);
    pod(fleet, "p");
    await fleet.run(30_000);
    expect(gatesOf(fleet, "p")).to.deep.equal([volumes]);
    fleet.api.fault = fault;
    await fleet.run(40_000);
    expect(gatesOf(fleet, "p")).to.deep.equal([]);
  });

  it("go on to the scheduler where the set selects no Node yet: an autoscaler sees no pod that is gated", async () => {
    const fleet = await fleetWith({ ...serving, nodeSelector: { gpu: "new" } });
    pod(fleet, "p");
    await fleet.run(1_000);
    expect(gatesOf(fleet, "p")).to.deep.equal([]);
    expect(read(fleet, "p").spec.nodeSelector).to.deep.equal({ gpu: "new" });
  });

  it("wait with a reason, told once, and go on when that is mended", async () => {
    const fleet = await fleetWith();
    pod(fleet, "p");
    await fleet.run(10_000);
    expect(gatesOf(fleet, "p")).to.deep.equal([volumes]);
    expect(shown(fleet, "p")).to.deep.equal(["PodScheduled=False", "nodevolume.dev/VolumesReady=False/SetNotFound"]);
    fleet.set("a", { ...serving, allowedNamespaces: { selector: { matchLabels: { team: "yes" } } } });
    await fleet.run(10_000);
    expect(shown(fleet, "p").at(-1)).to.equal("nodevolume.dev/VolumesReady=False/NamespaceNotAllowed");
    fleet.api.apply("namespaces", { metadata: { name: "team", labels: { team: "yes" } } });
    await fleet.run(1_000);
    expect(gatesOf(fleet, "p")).to.deep.equal([]);
    expect(told(fleet)).to.deep.equal(["Warning SetNotFound", "Warning NamespaceNotAllowed"]);
    expect(fleet.writesOf("pods")).to.equal(3);
  });

  it("stay where what the pod says of its nodes is against it, and say so", async () => {
    const fleet = await fleetWith(serving);
    pod(fleet, "p", { spec: { nodeSelector: { gpu: "no" } } });
    await fleet.run(10_000);
    expect(gatesOf(fleet, "p")).to.deep.equal([volumes]);
    expect(told(fleet)).to.deep.equal(["Warning NodeAffinityConflict"]);
  });

  it("by the name of a set go when it is ready somewhere; who uses no volume of ours gets an Event and no condition", async () => {
    const fleet = await fleetWith();
    fleet.agents.clear();
    fleet.set("b", { nodeSelector: { gpu: "yes" } });
    const spec = { volumes: [], containers: [{ name: "c" }] };
    pod(fleet, "p", { gates: ["nodevolume.dev/b"], spec });
    await fleet.run(70_000);
    expect(gatesOf(fleet, "p")).to.deep.equal(["nodevolume.dev/b"]);
    expect(shown(fleet, "p")).to.deep.equal(["PodScheduled=False"]);
    expect(told(fleet)).to.deep.equal(["Normal NodesNotReady"]);
    fleet.agents.add("n0");
    await fleet.run(2_000);
    expect(gatesOf(fleet, "p")).to.deep.equal([]);
  });

  it("are not touched while not all sets, Namespaces and pods are known", async () => {
    const fleet = createFleet();
    fleet.api.fault = ({ path }) => (path.endsWith("/namespaces") ? { status: 403 } : undefined);
    fleet.node("n0", { labels: { gpu: "yes" } });
    fleet.set("a", serving);
    pod(fleet, "p");
    fleet.start();
    await fleet.run(5_000);
    expect(gatesOf(fleet, "p")).to.deep.equal([volumes]);
    expect(fleet.setStatus("a")["ready"]).to.equal(1);
    fleet.api.fault = () => undefined;
    await fleet.run(60_000);
    expect(gatesOf(fleet, "p")).to.deep.equal([]);
  });
});

describe("startController: what pods show of their volumes", () => {
  /** What the agent says of the pod's volume. */
  function agentSays(fleet: Fleet, pods: readonly object[] | undefined): void {
    fleet.failures.set("n0", { pods } as object);
  }
  const uid = (fleet: Fleet, name: string) => fleet.api.object("pods", `team/${name}`)?.metadata.uid ?? "";

  it("a pod that starts as usual is told once, that all is there", async () => {
    const fleet = await fleetWith(serving);
    pod(fleet, "p", { gates: [], nodeName: "n0" });
    await fleet.run(1_000);
    agentSays(fleet, [{ uid: uid(fleet, "p"), volume: "v", state: "Mounted" }]);
    await fleet.run(10_000);
    expect(shown(fleet, "p").at(-1)).to.equal("nodevolume.dev/VolumesReady=True/Mounted");
    expect(fleet.writesOf("pods")).to.equal(1);
    expect(told(fleet)).to.deep.equal([]);
  });

  it("what is missing for longer is shown with the agent's reason, and told once each way", async () => {
    const fleet = await fleetWith(serving);
    pod(fleet, "p", { gates: [], nodeName: "n0" });
    await fleet.run(1_000);
    const missing = { uid: uid(fleet, "p"), volume: "v", state: "Blocked", reason: "SourceNotFound" };
    for (const attempt of ["first", "second"]) {
      agentSays(fleet, [{ ...missing, message: attempt }]);
      await fleet.run(5_000);
    }
    expect(shown(fleet, "p").at(-1)).to.equal("nodevolume.dev/VolumesReady=False/SourceNotFound");
    expect(read(fleet, "p").status.conditions.at(-1)?.message).to.equal("volume v: first");
    await fleet.run(60_000);
    expect(read(fleet, "p").status.conditions.at(-1)?.message).to.equal("volume v: second");
    agentSays(fleet, [{ uid: uid(fleet, "p"), volume: "v", state: "Mounted" }]);
    await fleet.run(1_000);
    expect(shown(fleet, "p").at(-1)).to.equal("nodevolume.dev/VolumesReady=True/Mounted");
    expect(told(fleet)).to.deep.equal(["Warning SourceNotFound", "Normal Mounted"]);
    expect(fleet.writesOf("pods")).to.equal(3);
  });

  it("why no intent names the pod is shown, too, and told by one Event alone", async () => {
    const fleet = await fleetWith({ nodeSelector: { gpu: "yes" } });
    pod(fleet, "p", { gates: [], nodeName: "n0" });
    await fleet.run(10_000);
    expect(shown(fleet, "p").at(-1)).to.equal("nodevolume.dev/VolumesReady=False/NamespaceNotAllowed");
    expect(told(fleet)).to.deep.equal(["Warning NamespaceNotAllowed"]);
  });
});
