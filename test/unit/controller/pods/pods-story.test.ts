import { expect } from "chai";
import type { FakeObject } from "../../fake-api-objects.ts";
import { allowed, createCSIFleet } from "../attach/csi-fleet.ts";
import type { Fleet } from "../fleet.ts";
import { createFleet } from "../fleet.ts";
import type { PodOptions } from "./pod-objects.ts";
import { ours, rawPod } from "./pod-objects.ts";

const forPods = { mounts: [], allowedNamespaces: { names: ["team"] } };
const claim = [ours({ persistentVolumeClaim: "data" })];

function put({ api }: Fleet, name: string, options: PodOptions = {}): void {
  const { metadata, ...rest } = rawPod(name, { node: "n0", ...options });
  const { name: own, namespace } = metadata;
  const known = api.object("pods", name)?.metadata;
  api.apply("pods", { ...rest, metadata: known ?? { name: own, namespace } } as FakeObject);
}

const podsIn = (fleet: Fleet) => fleet.intents().flatMap(({ spec }) => (spec.pods ?? []).map(({ name }) => name));
const specWrites = ({ api }: Fleet) =>
  api.writes
    .filter((one) => one.plural === "nodevolumeintents" && one.subresource === "")
    .map(({ verb }) => verb)
    .join(" ");
/** Events of pods, as "pod reason count". */
const told = ({ api }: Fleet) =>
  api.objects("events").flatMap((one) => {
    const { involvedObject, reason, count } = one as unknown as {
      involvedObject: { kind: string; namespace?: string; name: string };
      reason: string;
      count: number;
    };
    const { kind, namespace, name } = involvedObject;
    return kind === "Pod" ? [`${one.metadata.namespace} ${namespace}/${name} ${reason} ${count}`] : [];
  });

function story(spec: object = forPods): Fleet {
  const fleet = createFleet();
  fleet.node("n0");
  fleet.api.apply("namespaces", { metadata: { name: "team" } });
  fleet.api.apply("namespaces", { metadata: { name: "other", labels: { team: "b" } } });
  fleet.set("a", spec);
  return fleet;
}

describe("the controller and pods", () => {
  it("a pod gets its volume with one write, and takes it along when it goes", async () => {
    const fleet = story();
    fleet.start();
    await fleet.run(2_000);
    expect(fleet.intents()).to.deep.equal([]);
    put(fleet, "team/p");
    await fleet.run(500);
    expect([podsIn(fleet), specWrites(fleet)]).to.deep.equal([["p"], "create"]);
    put(fleet, "team/q");
    put(fleet, "team/r");
    await fleet.run(500);
    expect([podsIn(fleet).sort(), specWrites(fleet)]).to.deep.equal([["p", "q", "r"], "create patch"]);
    put(fleet, "team/q", { phase: "Succeeded" });
    for (const name of ["team/p", "team/r"]) fleet.api.remove("pods", name);
    await fleet.run(3_000);
    expect(fleet.intents()).to.deep.equal([]);
  });

  it("a pod that is scheduled later gets it then; one without a node is no pod of any", async () => {
    const fleet = story();
    fleet.start();
    put(fleet, "team/p", { node: "" });
    await fleet.run(2_000);
    expect(fleet.intents()).to.deep.equal([]);
    put(fleet, "team/p");
    await fleet.run(500);
    expect(podsIn(fleet)).to.deep.equal(["p"]);
  });

  it("tells a pod that is not allowed once, in its namespace, and serves it when its namespace is labelled", async () => {
    const fleet = story({ mounts: [], allowedNamespaces: { selector: { matchLabels: { team: "a" } } } });
    fleet.start();
    put(fleet, "other/p");
    await fleet.run(2_000);
    expect([fleet.intents(), told(fleet)]).to.deep.equal([[], ["other other/p NamespaceNotAllowed 1"]]);
    fleet.set("unrelated");
    put(fleet, "other/p", { annotations: { touched: "yes" } });
    await fleet.run(2_000);
    expect(told(fleet)).to.deep.equal(["other other/p NamespaceNotAllowed 1"]);
    fleet.api.patch("namespaces", "other", { metadata: { labels: { team: "a" } } });
    await fleet.run(500);
    expect(podsIn(fleet)).to.deep.equal(["p"]);
    fleet.api.patch("namespaces", "other", { metadata: { labels: { team: "b" } } });
    await fleet.run(3_000);
    expect([podsIn(fleet), told(fleet)]).to.deep.equal([[], ["other other/p NamespaceNotAllowed 2"]]);
  });

  it("forgets with a Node what was told of its pods", async () => {
    const fleet = story({ mounts: [], allowedNamespaces: { names: ["team"] } });
    fleet.start();
    put(fleet, "other/p");
    await fleet.run(2_000);
    fleet.api.remove("nodes", "n0");
    await fleet.run(2_000);
    expect(told(fleet)).to.deep.equal(["other other/p NamespaceNotAllowed 1"]);
    fleet.node("n0");
    await fleet.run(2_000);
    expect(told(fleet)).to.deep.equal(["other other/p NamespaceNotAllowed 2"]);
  });

  it("where pods cannot be read, sets have their mounts, and what pods have stays (law L8)", async () => {
    const fleet = story({ allowedNamespaces: { names: ["team"] } });
    fleet.start();
    put(fleet, "team/p");
    await fleet.run(2_000);
    fleet.api.fault = ({ path }) => (/\/(pods|namespaces)$/.test(path) ? { status: 403 } : undefined);
    fleet.api.breakWatches("expire");
    await fleet.run(20_000);
    fleet.api.remove("pods", "team/p");
    put(fleet, "team/q");
    fleet.node("n1");
    await fleet.run(5_000);
    expect(fleet.intents().map(({ spec }) => [spec.nodeName, spec.pods?.map(({ name }) => name)])).to.deep.equal([
      ["n0", ["p"]],
      ["n1", undefined],
    ]);
    fleet.api.fault = () => undefined;
    await fleet.run(20_000);
    expect(podsIn(fleet)).to.deep.equal(["q"]);
  });

  it("a controller that begins where pods have their volumes writes nothing, whoever is read first", async () => {
    for (const late of ["pods", "namespaces", "nodevolumesets"]) {
      const fleet = story();
      const before = fleet.start();
      put(fleet, "team/p");
      await fleet.run(3_000);
      const stopped = before.stop();
      await fleet.run(2_000);
      await stopped;
      const writes = specWrites(fleet);
      let waits = true;
      fleet.api.fault = ({ path, query }) =>
        waits && query?.["watch"] !== undefined && path.endsWith(`/${late}`) ? { when: "before" } : undefined;
      fleet.start("c2");
      await fleet.run(30_000);
      expect([podsIn(fleet), specWrites(fleet)], late).to.deep.equal([["p"], writes]);
      waits = false;
      await fleet.run(30_000);
      expect([podsIn(fleet), specWrites(fleet)], late).to.deep.equal([["p"], writes]);
    }
  });

  it("tells a pod once that it lacks the group of a PersistentVolume, also of one that is bound later", async () => {
    const fleet = createCSIFleet();
    fleet.driverNode("n0");
    fleet.api.apply("namespaces", { metadata: { name: "apps" } });
    fleet.start();
    const metadata = { name: "data", namespace: "apps" };
    fleet.api.apply("persistentvolumeclaims", { metadata, spec: {}, status: { phase: "Pending" } });
    put(fleet, "apps/p", { volumes: claim });
    put(fleet, "apps/q", { volumes: claim, securityContext: { supplementalGroups: [1234] } });
    await fleet.live(8_000);
    fleet.claim("data", "vol-1");
    const annotations = { "pv.beta.kubernetes.io/gid": "1234" };
    fleet.api.patch("persistentvolumes", "pv-vol-1", { metadata: { annotations } });
    await fleet.live(30_000);
    const lacking = () => told(fleet).filter((one) => one.includes("PodLacksGroup"));
    expect(lacking()).to.deep.equal(["apps apps/p PodLacksGroup 1"]);
    expect(fleet.granted(), "it has the volume").to.deep.equal(["n0"]);
    put(fleet, "apps/q", {
      volumes: claim,
      annotations: { touched: "yes" },
      securityContext: { supplementalGroups: [1234] },
    });
    await fleet.live(30_000);
    expect(lacking()).to.deep.equal(["apps apps/p PodLacksGroup 1"]);
  });

  it("a set that is deleted waits until its last pod has let the volume go", async () => {
    const fleet = story();
    fleet.start();
    put(fleet, "team/p");
    await fleet.run(2_000);
    fleet.mute.add("n0");
    fleet.api.remove("nodevolumesets", "a");
    await fleet.run(3_000);
    expect(fleet.intent("n0").metadata.deletionTimestamp).not.to.equal(undefined);
    expect(fleet.api.object("nodevolumesets", "a")).not.to.equal(undefined);
    fleet.mute.delete("n0");
    await fleet.run(3_000);
    expect([fleet.intents(), fleet.api.object("nodevolumesets", "a")]).to.deep.equal([[], undefined]);
    expect(told(fleet)).to.deep.equal(["team team/p SetNotServing 1", "team team/p SetNotFound 1"]);
  });

  it("the number of pods is in the set's status, and a hundred that come one by one are not a hundred writes", async () => {
    const fleet = story();
    fleet.start();
    await fleet.run(10_000);
    const before = fleet.writesOf("nodevolumesets", "patch");
    for (let i = 0; i < 100; i += 1) {
      put(fleet, `team/p${i}`);
      await fleet.run(100);
    }
    await fleet.run(6_000);
    expect(fleet.setStatus("a")).to.include({ pods: 100 });
    expect(fleet.writesOf("nodevolumesets", "patch") - before).to.be.within(2, 5);
  });

  it("a claim of a pod is taken, attached and granted as a set's is, and given back with the last pod", async () => {
    const fleet = createCSIFleet();
    fleet.driverNode("n0");
    fleet.claim("data", "vol-1");
    fleet.start();
    put(fleet, "apps/p", { volumes: claim, securityContext: { fsGroup: 5 } });
    await fleet.live(3_000);
    expect(fleet.waitReason("n0")).to.equal("WaitingForAttach data");
    await fleet.live(6_000);
    expect([fleet.granted(), podsIn(fleet), specWrites(fleet)]).to.deep.equal([["n0"], ["p"], "create patch"]);
    expect(fleet.intent("n0").spec.pods?.[0]).to.include({ fsGroup: 5 });
    put(fleet, "apps/q", { volumes: claim });
    await fleet.live(1_000);
    expect([podsIn(fleet).sort(), specWrites(fleet)]).to.deep.equal([["p", "q"], "create patch patch"]);
    const { grant } = fleet.intent("n0").spec;
    fleet.api.remove("pods", "apps/p");
    await fleet.live(1_000);
    expect(fleet.intent("n0").spec.grant).to.deep.equal(grant);
    fleet.api.remove("pods", "apps/q");
    await fleet.live(5_000);
    expect([fleet.intents(), fleet.attachments()]).to.deep.equal([[], []]);
    const held = fleet.api.object("persistentvolumeclaims", "apps/data")?.metadata;
    expect([held?.labels, held?.finalizers ?? []]).to.deep.equal([allowed, []]);
  });

  it("a claim on two nodes goes to the second when the first node's pod has gone; one that is not there is waited for", async () => {
    const fleet = createCSIFleet();
    for (const name of ["n0", "n1"]) fleet.driverNode(name);
    fleet.start();
    put(fleet, "apps/p", { volumes: claim });
    await fleet.live(2_000);
    expect([fleet.intents(), told(fleet)]).to.deep.equal([[], ["apps apps/p ClaimNotFound 1"]]);
    fleet.claim("data", "vol-1");
    await fleet.live(8_000);
    put(fleet, "apps/q", { volumes: claim, node: "n1" });
    await fleet.live(3_000);
    expect([fleet.granted(), fleet.waitReason("n1")]).to.deep.equal([["n0"], "VolumeHeldElsewhere n0"]);
    fleet.api.remove("pods", "apps/p");
    await fleet.live(8_000);
    expect(fleet.granted()).to.deep.equal(["n1"]);
  });
});
