import { expect } from "chai";
import { allowing } from "../../hack/lib/allowing.ts";
import { slow } from "../../hack/lib/lanes/slow.ts";
import { until } from "../../hack/lib/until.ts";
import { prepare } from "../lib/cluster/cluster.ts";
import { expectRefused, expectStatus, patch, paths } from "../lib/cluster/policy-world.ts";
import type { AttachWorld } from "./attach-world.ts";
import { core, startAttachWorld } from "./attach-world.ts";
import { boundClaim } from "./bound-claim.ts";

// Not where the Events of cluster-scoped objects are: whoever owns a claim has a namespace of theirs.
const namespace = "claims";
const inNamespace = `/api/v1/namespaces/${namespace}`;
const claimsPath = `${inNamespace}/persistentvolumeclaims`;
const podsPath = `${inNamespace}/pods`;
const inUse = "nodevolume.dev/in-use";

interface Marked {
  metadata: { labels?: { [key: string]: string }; finalizers?: string[]; deletionTimestamp?: string };
  status: {
    capacity?: { storage?: string };
    conditions?: { type: string }[];
    allocatedResourceStatuses?: { storage?: string };
  };
}

interface Told {
  involvedObject: { name: string };
  reason: string;
  count: number;
}

describe("claims on a real API server", () => {
  let world: AttachWorld;
  before(async function () {
    prepare(this);
    world = await startAttachWorld("claims");
    await world.create("/api/v1/namespaces", core("Namespace", { metadata: { name: namespace } }));
    // Who would make it is not there.
    await world.create(`${inNamespace}/serviceaccounts`, core("ServiceAccount", { metadata: { name: "default" } }));
    for (const name of ["data", "other", "private"]) await boundClaim(world, namespace, name);
  });

  const claim = async (name: string) => (await world.get(`${claimsPath}/${name}`)) as unknown as Marked | undefined;
  const volume = async (name: string) =>
    (await world.get(`/api/v1/persistentvolumes/claims-${name}`)) as unknown as Marked | undefined;
  /** What is told of a claim, as "reason count". */
  const told = async (name: string) => {
    const { items } = (await world.get(`${inNamespace}/events`)) as unknown as { items: Told[] };
    const ofClaim = items.filter(({ involvedObject }) => involvedObject.name === name);
    return ofClaim.map(({ reason, count }) => `${reason} ${count}`).sort();
  };
  const stalledBecause = async (set: string) => {
    const found = await world.get(`/apis/nodevolume.dev/v1alpha1/nodevolumesets/${set}`);
    const { conditions = [] } = (found?.["status"] ?? {}) as { conditions?: { type: string; reason: string }[] };
    return conditions.find(({ type }) => type === "Stalled")?.reason;
  };
  const pod = (name: string, claimName: string) => {
    const volumes = [{ name: "v", persistentVolumeClaim: { claimName } }];
    return core("Pod", { metadata: { name }, spec: { containers: [{ name: "c", image: "nothing" }], volumes } });
  };

  it("takes a claim, attaches its PersistentVolume, and grants it with its size", async () => {
    await world.set("held", { persistentVolumeClaim: { namespace, claimName: "data" } }, "a");
    await until("the attachment", 20_000, async () => (await world.attachments()).length === 1);
    const [attachment] = await world.attachments();
    expect(attachment?.spec.source).to.deep.equal({ persistentVolumeName: "claims-data" });
    expect((await claim("data"))?.metadata.finalizers).to.include(inUse);
    expect((await volume("data"))?.metadata.finalizers).to.include(inUse);
    await world.attach(attachment?.metadata.name ?? "");
    const { spec } = await world.granted("held");
    expect(spec.grant?.csi).to.include({ volumeHandle: "claims-data", fsType: "xfs", accessMode: "ReadWriteOnce" });
    expect(spec.capacityBytes).to.equal(String(2 ** 30));
  });

  it("tells the claim's owners in their namespace that it is attached", async () => {
    const attached = ["SuccessfulAttachVolume 1", "WaitingForAttach 1"];
    await until("the events", 20_000, async () => (await told("data")).length === attached.length);
    expect(await told("data")).to.deep.equal(attached);
  });

  it("a pod that names the claim is refused and told of the driver; one that names another is not", async () => {
    const refused = await world.admin.call("POST", `${podsPath}?dryRun=All`, { body: pod("p", "data") });
    expectRefused(refused, "csi.nodevolume.dev");
    expectStatus(201, await world.admin.call("POST", `${podsPath}?dryRun=All`, { body: pod("p", "other") }));
  });

  it("waits for a pod that uses a claim, and leaves the claim to it", async () => {
    await world.create(podsPath, pod("user", "other"));
    await world.set("busy", { persistentVolumeClaim: { namespace, claimName: "other" } }, "b");
    await until("the reason", 20_000, async () => {
      const { attach } = (await world.intents("busy"))[0]?.status ?? {};
      return attach?.reason === "UsedByPods" && attach.on?.name === "user";
    });
    expect((await claim("other"))?.metadata.labels ?? {}).not.to.have.property("nodevolume.dev/held");
  });

  it("growth: the node is told, and the claim says so when the node has reached it", async () => {
    const conditions = [{ type: "FileSystemResizePending", status: "True", lastTransitionTime: null }];
    const capacity = { storage: "2Gi" };
    expectStatus(200, await patch(world.admin, "/api/v1/persistentvolumes/claims-data", { spec: { capacity } }));
    const status = { conditions, allocatedResourceStatuses: { storage: "NodeResizePending" } };
    expectStatus(200, await patch(world.admin, `${claimsPath}/data/status`, { status }));
    const size = String(2 * 2 ** 30);
    await until("the intent", 20_000, async () => (await world.intents("held"))[0]?.spec.capacityBytes === size);
    const [intent] = await world.intents("held");
    if (intent === undefined) throw new Error("no intent");
    const expansion = { capacityBytes: size, reason: "DriverFailed", message: "the pool is sick" };
    expectStatus(200, await world.acknowledge(intent, { state: "Mounted", inUse: true, expansion }));
    await until("the failure", 20_000, async () => {
      return (await claim("data"))?.status.conditions?.some(({ type }) => type === "NodeResizeError") === true;
    });
    expect((await claim("data"))?.status.allocatedResourceStatuses?.storage).to.equal("NodeResizeInProgress");
    await until("the event", 20_000, async () => (await told("data")).includes("VolumeResizeFailed 1"));
    const done = { state: "Mounted", inUse: true, capacityBytes: size, expansion: null };
    expectStatus(200, await world.acknowledge(intent, done));
    await until("the claim", 20_000, async () => (await claim("data"))?.status.capacity?.storage === "2Gi");
    expect((await claim("data"))?.status.conditions ?? []).to.deep.equal([]);
    expect((await claim("data"))?.status).not.to.have.property("allocatedResourceStatuses");
    await until("the event", 20_000, async () => (await told("data")).includes("FileSystemResizeSuccessful 1"));
  });

  it("neither claim nor PersistentVolume goes while it is in use; both do when the use ends", async () => {
    await world.admin.call("DELETE", `${claimsPath}/data`);
    // Of the API server's own: no kube-controller-manager is here to take it off when no pod uses the claim.
    const finalizers = [inUse];
    expectStatus(200, await patch(world.admin, `${claimsPath}/data`, { metadata: { finalizers } }));
    expect((await claim("data"))?.metadata.deletionTimestamp).not.to.equal(undefined);
    await world.admin.call("DELETE", "/apis/nodevolume.dev/v1alpha1/nodevolumesets/held");
    await until("the revocation", 20_000, async () => {
      return (await world.intents("held"))[0]?.metadata.deletionTimestamp !== undefined;
    });
    const [revoked] = await world.intents("held");
    if (revoked === undefined) throw new Error("no intent");
    expectStatus(200, await world.acknowledge(revoked));
    await until("the detachment to begin", 20_000, async () => {
      return (await world.attachments())[0]?.metadata.deletionTimestamp !== undefined;
    });
    expect((await claim("data"))?.metadata.finalizers).to.include(inUse);
    await world.detached((await world.attachments())[0]?.metadata.name ?? "");
    await until("the claim to be gone", 20_000, async () => (await claim("data")) === undefined);
    await until(
      "the intent to be gone",
      20_000,
      async () => (await world.get(`${paths.intents}/${revoked.metadata.name}`)) === undefined,
    );
    expect((await volume("data"))?.metadata.finalizers ?? []).not.to.include(inUse);
  });

  it("gives a set nothing of a claim that does not allow it, until its owner does", async () => {
    const source = { persistentVolumeClaim: { namespace, claimName: "private" } };
    await world.set("stranger", source, "b", false);
    await world.allow(source, "another", true);
    await until("the reason", 20_000, async () => (await stalledBecause("stranger")) === "ClaimNotAllowed");
    expect([await world.intents("stranger"), await world.attachments()]).to.deep.equal([[], []]);
    const { labels, finalizers = [] } = (await claim("private"))?.metadata ?? {};
    expect([labels, finalizers.includes(inUse)]).to.deep.equal([allowing("another"), false]);
    await until("the Event", 20_000, async () => {
      const { items } = (await world.get("/api/v1/namespaces/default/events")) as unknown as { items: Told[] };
      return items.some((one) => one.involvedObject.name === "stranger" && one.reason === "ClaimNotAllowed");
    });
    await world.allow(source, "stranger", true);
    await until("the intent", 20_000, async () => (await world.intents("stranger")).length === 1);
  });

  slow("leaves what is granted as it is when the owner takes the consent back, and says so", async () => {
    await until("the attachment", 20_000, async () => (await world.attachments()).length === 1);
    await world.attach((await world.attachments())[0]?.metadata.name ?? "");
    const before = await world.granted("stranger");
    expect(before.spec.grant?.csi).to.include({ volumeHandle: "claims-private" });
    await world.allow({ persistentVolumeClaim: { namespace, claimName: "private" } }, "stranger", false);
    await until("the reason", 20_000, async () => (await stalledBecause("stranger")) === "ClaimNotAllowed");
    await until("the intent's", 20_000, async () => {
      return (await world.intents("stranger"))[0]?.status?.attach?.reason === "ClaimNotAllowed";
    });
    const [after] = await world.intents("stranger");
    expect(after?.spec).to.deep.equal(before.spec);
    await world.admin.call("DELETE", "/apis/nodevolume.dev/v1alpha1/nodevolumesets/stranger");
    await until("the revocation", 20_000, async () => {
      return (await world.intents("stranger"))[0]?.metadata.deletionTimestamp !== undefined;
    });
    const [revoked] = await world.intents("stranger");
    if (revoked === undefined) throw new Error("no intent");
    expectStatus(200, await world.acknowledge(revoked));
    await until("the detachment to begin", 20_000, async () => {
      return (await world.attachments())[0]?.metadata.deletionTimestamp !== undefined;
    });
    await world.detached((await world.attachments())[0]?.metadata.name ?? "");
    await until("the intent to be gone", 20_000, async () => (await world.intents("stranger")).length === 0);
    expect((await claim("private"))?.metadata.labels).to.deep.equal(allowing("another"));
  });
});
