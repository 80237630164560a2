import { expect } from "chai";
import { until } from "../../hack/lib/until.ts";
import type { NodeVolumeIntent } from "../../src/api/types.gen.ts";
import { prepare } from "../lib/cluster/cluster.ts";
import { expectRefused, expectStatus, patch, paths } from "../lib/cluster/policy-world.ts";
import type { AttachWorld } from "./attach-world.ts";
import { core, driver, startAttachWorld } from "./attach-world.ts";
import { boundClaim } from "./bound-claim.ts";

const setsPath = "/apis/nodevolume.dev/v1alpha1/nodevolumesets";
const pathOf = (namespace: string, plural = "pods") => `/api/v1/namespaces/${namespace}/${plural}`;

interface Told {
  involvedObject: { kind: string; namespace: string; name: string };
  reason: string;
  count: number;
  message: string;
}

// Pods are bound to Nodes by their spec, as static pods are: neither a scheduler nor a kubelet runs.
describe("pods on a real API server", () => {
  let world: AttachWorld;
  before(async function () {
    prepare(this);
    world = await startAttachWorld("pods");
    for (const [name, labels] of [
      ["team", {}],
      ["other", { team: "b" }],
    ] as const) {
      await world.create("/api/v1/namespaces", core("Namespace", { metadata: { name, labels } }));
      await world.create(pathOf(name, "serviceaccounts"), core("ServiceAccount", { metadata: { name: "default" } }));
    }
    const allowedNamespaces = { names: ["team"], selector: { matchLabels: { team: "a" } } };
    const spec = { volume: { source: { emptyDir: {} } }, allowedNamespaces, nodeSelector: { role: world.role("a") } };
    const set = { apiVersion: "nodevolume.dev/v1alpha1", kind: "NodeVolumeSet", metadata: { name: "datasets" }, spec };
    await world.create(setsPath, set);
  });

  function pod(name: string, attributes: object, more: object = {}) {
    const csi = { driver: "csi.nodevolume.dev", volumeAttributes: attributes };
    const containers = [{ name: "c", image: "nothing", volumeMounts: [{ name: "data", mountPath: "/data" }] }];
    const nodeName = world.nodes[0].name;
    return core("Pod", {
      metadata: { name },
      spec: { nodeName, containers, volumes: [{ name: "data", csi }], ...more },
    });
  }
  const start = (namespace: string, name: string, attributes: object, more: object = {}) =>
    world.create(pathOf(namespace), pod(name, attributes, more));
  const end = (namespace: string, name: string) =>
    world.admin.call("DELETE", `${pathOf(namespace)}/${name}?gracePeriodSeconds=0`);
  async function intents(): Promise<NodeVolumeIntent[]> {
    const all = (await world.get(paths.intents))?.["items"] as NodeVolumeIntent[];
    return all.filter(({ spec }) => world.nodes.some(({ name }) => name === spec.nodeName));
  }
  const listed = async () => (await intents()).flatMap(({ spec }) => (spec.pods ?? []).map(({ name }) => name)).sort();
  const has = (...names: string[]) =>
    until(`${names.join()} in an intent`, 20_000, async () => (await listed()).join() === names.join());
  /** What pods of a namespace are told, as "pod reason count". */
  async function told(namespace: string): Promise<string[]> {
    const { items } = (await world.get(pathOf(namespace, "events"))) as unknown as { items: Told[] };
    const ofPods = items.filter(({ involvedObject }) => involvedObject.kind === "Pod");
    return ofPods.map(({ involvedObject, reason, count }) => `${involvedObject.name} ${reason} ${count}`).sort();
  }
  async function deleted(): Promise<NodeVolumeIntent> {
    const going = async () => (await intents()).find(({ metadata }) => metadata.deletionTimestamp !== undefined);
    await until("the revocation", 20_000, async () => (await going()) !== undefined);
    return (await going()) as NodeVolumeIntent;
  }

  it("a pod of an allowed namespace is in the intent of its node, which is made for it and granted", async () => {
    const uid = (
      (await start("team", "web", { set: "datasets", subPath: "a/b", readOnly: "true" }))["metadata"] as {
        uid: string;
      }
    )["uid"];
    await has("web");
    const [intent] = await intents();
    expect(intent?.spec.pods).to.deep.equal([
      { uid, namespace: "team", name: "web", volume: "data", subPath: "a/b", readOnly: true },
    ]);
    expect(intent?.spec).to.deep.include({ nodeName: world.nodes[0].name, mounts: [] });
    expect(intent?.spec.grant?.id).not.to.equal(undefined);
    await until("the set's status", 20_000, async () => {
      const set = (await world.get(`${setsPath}/datasets`)) as { status?: { pods?: number } } | undefined;
      return set?.status?.pods === 1;
    });
  });

  it("a pod of another namespace is told so there, once, and is in none; labelled, its namespace is allowed", async () => {
    await start("other", "guest", { set: "datasets" });
    await until("the event", 20_000, async () => (await told("other")).length > 0);
    expect([await told("other"), await listed()]).to.deep.equal([["guest NamespaceNotAllowed 1"], ["web"]]);
    expectStatus(200, await patch(world.admin, "/api/v1/namespaces/other", { metadata: { labels: { team: "a" } } }));
    await has("guest", "web");
    expectStatus(200, await patch(world.admin, "/api/v1/namespaces/other", { metadata: { labels: { team: "b" } } }));
    await has("web");
  });

  it("a pod whose attributes cannot be meant, and one on a node that the set does not select, are told why", async () => {
    await start("team", "typo", { set: "datasets", readonly: "true" });
    await start("team", "astray", { set: "datasets" }, { nodeName: world.nodes[1].name });
    await start("team", "lost", { set: "no-such-set" });
    const expected = ["astray NodeNotSelected 1", "lost SetNotFound 1", "typo Invalid 1"];
    await until("the events", 20_000, async () => (await told("team")).join() === expected.join());
    for (const name of ["typo", "astray", "lost"]) await end("team", name);
    expect(await listed()).to.deep.equal(["web"]);
  });

  it("a pod that is being deleted stays until it is gone; one that has ended leaves at once", async () => {
    await start("team", "job", { set: "datasets" });
    await has("job", "web");
    expectStatus(200, await patch(world.admin, `${pathOf("team")}/job/status`, { status: { phase: "Succeeded" } }));
    await has("web");
    await world.admin.call("DELETE", `${pathOf("team")}/web?gracePeriodSeconds=300`);
    await start("team", "after", { set: "datasets" });
    await has("after", "web");
    await end("team", "after");
    await has("web");
  });

  it("with the last pod the intent goes, by its node's word", async () => {
    await end("team", "web");
    const intent = await deleted();
    expectStatus(200, await world.acknowledge(intent));
    await until("the end", 20_000, async () => (await intents()).length === 0);
  });

  it("a pod's claim is taken, attached and granted without any set, for pods of its own namespace", async () => {
    await boundClaim(world, "team", "data");
    const more = { securityContext: { fsGroup: 2000, fsGroupChangePolicy: "OnRootMismatch" } };
    await start("other", "thief", { persistentVolumeClaim: "data" });
    await start("team", "db", { persistentVolumeClaim: "data" }, more);
    await until("the attachment", 30_000, async () => (await world.attachments()).length === 1);
    const [attachment] = await world.attachments();
    await world.attach(attachment?.metadata.name ?? "");
    const ofTeam = async () =>
      (await intents()).find(({ spec }) => spec.source.persistentVolumeClaim?.namespace === "team");
    await until("the grant", 20_000, async () => (await ofTeam())?.spec.grant !== undefined);
    const { spec, metadata } = (await ofTeam()) as NodeVolumeIntent;
    expect(spec.grant?.csi).to.include({ driver, volumeHandle: "team-data" });
    expect(spec.pods?.[0]).to.include({ name: "db", fsGroup: 2000, fsGroupChangePolicy: "OnRootMismatch" });
    expect(Object.keys(metadata.labels ?? {}).sort()).to.deep.equal(["nodevolume.dev/node", "nodevolume.dev/type"]);
    // The other's is a claim of its own namespace, which is not there.
    expect([await listed(), (await told("other")).at(-1)]).to.deep.equal([["db"], "thief ClaimNotFound 1"]);
    const volumes = [{ name: "v", persistentVolumeClaim: { claimName: "data" } }];
    const direct = core("Pod", { metadata: { name: "p" }, spec: { containers: [{ name: "c", image: "n" }], volumes } });
    const refused = await world.admin.call("POST", `${pathOf("team")}?dryRun=All`, { body: direct });
    expectRefused(refused, "csi.nodevolume.dev");
  });

  it("a second pod is one more entry under the same grant; with the last one all is given back", async () => {
    await end("other", "thief");
    await start("team", "db-2", { persistentVolumeClaim: "data" });
    await has("db", "db-2");
    const [{ spec } = {} as NodeVolumeIntent] = await intents();
    expect(spec.grant?.csi).to.include({ volumeHandle: "team-data" });
    await end("team", "db");
    await has("db-2");
    expect((await intents())[0]?.spec.grant).to.deep.equal(spec.grant);
    await end("team", "db-2");
    const intent = await deleted();
    expectStatus(200, await world.acknowledge(intent));
    const [attachment] = await world.attachments();
    await until("the detach", 20_000, async () => {
      return (await world.attachments())[0]?.metadata.deletionTimestamp !== undefined;
    });
    await world.detached(attachment?.metadata.name ?? "");
    await until("the end", 20_000, async () => (await intents()).length === 0);
    const claim = (await world.get(`${pathOf("team", "persistentvolumeclaims")}/data`)) as unknown as {
      metadata: { labels?: object; finalizers?: string[] };
    };
    expect(claim.metadata.labels ?? {}).to.deep.equal({});
    expect(claim.metadata.finalizers ?? []).not.to.include("nodevolume.dev/in-use");
  });

  it("a directory of the node is read-only for pods unless its set says otherwise, with the noexec of the set (H1)", async () => {
    const mounts = [{ name: "host", path: "/mnt/nodevolume/certs", readOnly: true, mountOptions: ["noexec"] }];
    const volume = { source: { hostPath: { path: "/etc/ssl" } } };
    const spec = { volume, mounts, allowedNamespaces: { names: ["team"] }, nodeSelector: { role: world.role("a") } };
    const set = { apiVersion: "nodevolume.dev/v1alpha1", kind: "NodeVolumeSet", metadata: { name: "certs" }, spec };
    await world.create(setsPath, set);
    await start("team", "reader", { set: "certs" });
    const entry = async () =>
      (await intents()).flatMap(({ spec }) => spec.pods ?? []).find(({ name }) => name === "reader");
    const isReader = (readOnly: boolean) => async () => (await entry())?.readOnly === readOnly;
    await until("reader in an intent, read-only", 20_000, isReader(true));
    expect((await entry())?.noexec).to.equal(true);
    await patch(world.admin, `${setsPath}/certs`, { spec: { allowedNamespaces: { readOnly: false } } });
    await until("reader to write, as its set says now", 20_000, isReader(false));
    await end("team", "reader");
  });
});
