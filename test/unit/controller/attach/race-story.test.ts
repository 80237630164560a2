import { expect } from "chai";
import { attachmentName } from "../../../../src/controller/attach/attachment-name.ts";
import type { ApiRequest } from "../../../../src/kube/client/transport.ts";
import type { CSIFleet } from "./csi-fleet.ts";
import { allowed, createCSIFleet, driver } from "./csi-fleet.ts";

const source = { csi: { driver, volumeHandle: "vol-1" } };
const nameOn = (node: string) => attachmentName({ driver, volumeHandle: "vol-1" }, node);

/** Does something right before the first request that matches is served. */
function rightBefore(fleet: CSIFleet, matches: (request: ApiRequest) => boolean, act: () => void): void {
  const { request } = fleet.api;
  let done = false;
  fleet.api.request = (sent) => {
    if (!done && matches(sent)) {
      done = true;
      act();
    }
    return request(sent);
  };
}

const isGrant = ({ body }: ApiRequest) => JSON.stringify(body ?? {}).includes('"grant":{"id"');

describe("races of grant and detach", () => {
  it("no grant rests on an attachment that somebody has begun to delete a moment before", async () => {
    const fleet = createCSIFleet();
    fleet.driverNode("n0");
    let doomed: string | undefined;
    rightBefore(
      fleet,
      ({ method, path }) => method === "PATCH" && path.endsWith(nameOn("n0")),
      () => {
        doomed = fleet.attachments()[0]?.metadata.uid;
        fleet.api.remove("volumeattachments", nameOn("n0"));
      },
    );
    fleet.csiSet("a", source);
    fleet.start();
    await fleet.live(4_000);
    const { grant } = fleet.intent("n0").spec;
    expect(doomed).not.to.equal(undefined);
    expect(grant?.volumeAttachment?.uid).to.equal(fleet.attachments()[0]?.metadata.uid);
    expect(grant?.volumeAttachment?.uid).not.to.equal(doomed);
    const grants = fleet.api.writes.filter(
      ({ plural, body }) => plural === "nodevolumeintents" && isGrant({ body } as ApiRequest),
    );
    expect(grants).to.have.length(1);
  });

  it("what nobody asks for is not detached when the server knows of a grant that the watch has not shown", async () => {
    const fleet = createCSIFleet();
    for (const name of ["n0", "n1"]) fleet.driverNode(name);
    const spec = { attacher: driver, nodeName: "n1", source: { inlineVolumeSpec: { csi: source.csi } } };
    fleet.api.apply("volumeattachments", { metadata: { name: nameOn("n1") }, spec });
    rightBefore(
      fleet,
      ({ method, path }) => method === "GET" && path.endsWith(nameOn("n1")),
      () => {
        const csi = { ...source.csi, accessMode: "ReadWriteOnce" };
        const grant = { id: "of-a-former-leader", csi };
        fleet.api.apply("nodevolumeintents", {
          metadata: { name: "theirs", finalizers: ["nodevolume.dev/in-use"] },
          spec: {
            nodeName: "n1",
            mode: "Manage",
            mounts: [],
            source,
            grant,
            volumeMode: "Filesystem",
            nodeLossPolicy: {},
          },
        });
      },
    );
    fleet.set("a", { volume: { source }, nodeSelector: { role: "first" } });
    fleet.node("n0", { labels: { role: "first" } });
    fleet.start();
    await fleet.live(5_000);
    const there = fleet.api.object("volumeattachments", nameOn("n1"));
    expect(there?.metadata.deletionTimestamp).to.equal(undefined);
    expect(
      fleet.api.writes.filter(({ verb, plural }) => verb === "delete" && plural === "volumeattachments"),
    ).to.deep.equal([]);
    expect(fleet.intent("n0").spec.grant).to.equal(undefined);
  });

  for (const slowMs of [0, 2]) {
    it(`an intent that never had a grant does not take away what another one is granted, its read ${slowMs} ms late`, async () => {
      const fleet = createCSIFleet();
      const name = nameOn("n0");
      fleet.driverNode("n0");
      fleet.attacher.paused.add("attach");
      fleet.csiSet("a", source);
      fleet.start();
      await fleet.live(500);
      const older = fleet.intent("n0").metadata.name;
      fleet.api.patch("volumeattachments", name, { metadata: { finalizers: [`external-attacher/${driver}`] } });
      const { request } = fleet.api;
      const later = (ms: number, sent: ApiRequest) =>
        new Promise<Awaited<ReturnType<typeof request>>>((resolve, reject) =>
          fleet.system.timers.after(ms, () => void request(sent).then(resolve, reject)),
        );
      let begun = false;
      fleet.api.request = (sent) => {
        if (!begun && sent.method === "PATCH" && JSON.stringify(sent.body).includes("VolumeHeldElsewhere")) {
          // In the middle of a look at the volume: the older intent is deleted, and the driver has attached.
          begun = true;
          fleet.api.remove("nodevolumesets", "a");
          fleet.api.remove("nodevolumeintents", older);
          fleet.api.patch("volumeattachments", name, { status: { attached: true } }, "status");
          return later(5, sent);
        }
        return begun && sent.method === "GET" && sent.path.endsWith(name) ? later(slowMs, sent) : request(sent);
      };
      const other = { csi: { ...source.csi, fsType: "xfs" } };
      fleet.csiSet("b", other, { mounts: [{ name: "host", path: "/mnt/nodevolume/b" }] });
      await fleet.system.advance(3_000);
      expect(begun).to.equal(true);
      expect(fleet.attachments()[0]?.metadata.deletionTimestamp).to.equal(undefined);
      expect(fleet.granted()).to.deep.equal(["n0"]);
      expect(fleet.intent("n0").spec.grant?.volumeAttachment?.uid).to.equal(fleet.attachments()[0]?.metadata.uid);
    });
  }

  it("nor what it has made itself, once its claim says no more which volume it is", async () => {
    const fleet = createCSIFleet();
    fleet.driverNode("n0");
    fleet.claim("data", "vol-1");
    fleet.attacher.paused.add("attach");
    fleet.csiSet("a", { persistentVolumeClaim: { namespace: "apps", claimName: "data" } });
    fleet.start();
    await fleet.live(8_000);
    expect(fleet.attachments()).to.have.length(1);
    fleet.csiSet("b", source, { mounts: [{ name: "host", path: "/mnt/nodevolume/b" }] });
    await fleet.live(1_000);
    // Its PersistentVolume names another claim; the set that names the volume itself gets what is attached.
    fleet.api.patch("persistentvolumes", "pv-vol-1", { spec: { claimRef: { uid: "another" } } });
    fleet.attacher.paused.clear();
    await fleet.live(5_000);
    const [had] = fleet.attachments();
    expect(fleet.granted()).to.deep.equal(["n0"]);
    fleet.api.remove("nodevolumesets", "a");
    await fleet.live(5_000);
    expect(fleet.intents()).to.have.length(1);
    expect(fleet.attachments()).to.have.length(1);
    expect(fleet.attachments()[0]?.metadata.uid).to.equal(had?.metadata.uid);
    expect(fleet.intent("n0").spec.grant?.volumeAttachment?.uid).to.equal(had?.metadata.uid);
  });

  for (const when of ["before", "after"] as const) {
    it(`a grant that has no answer, ${when} it was applied, gives the volume to nobody else`, async () => {
      const fleet = createCSIFleet();
      for (const name of ["n0", "n1"]) fleet.driverNode(name);
      fleet.api.apply("csidrivers", { metadata: { name: driver }, spec: { attachRequired: false } });
      let failures = 0;
      fleet.api.fault = (request) => {
        if (!isGrant(request) || failures > 2) return undefined;
        failures += 1;
        return { when };
      };
      fleet.csiSet("a", source);
      fleet.start();
      await fleet.live(5_000);
      expect(failures).to.be.greaterThan(0);
      expect(fleet.granted()).to.have.length(1);
    });
  }

  it("a controller that is killed after any of its writes leaves nothing behind", async () => {
    let survived = false;
    let deaths = 0;
    for (let writes = 1; !survived; writes += 1) {
      const fleet = createCSIFleet();
      const set = () => fleet.api.object("nodevolumesets", "a");
      fleet.driverNode("n0");
      fleet.claim("data", "vol-1");
      fleet.csiSet("a", { persistentVolumeClaim: { namespace: "apps", claimName: "data" } });
      const { request } = fleet.api;
      let left = writes;
      const counts = ({ method, path }: ApiRequest) => method !== "GET" && !/leases|events/.test(path);
      fleet.api.request = (sent) => {
        if (left === 0) return new Promise(() => {});
        if (counts(sent)) left -= 1;
        return request(sent);
      };
      fleet.start("c1");
      await fleet.live(9_000);
      fleet.api.remove("nodevolumesets", "a");
      await fleet.live(3_000);
      survived = left > 0;
      // Its successor waits for the Lease.
      fleet.api.request = request;
      fleet.start("c2");
      await fleet.live(40_000);
      const claim = fleet.api.object("persistentvolumeclaims", "apps/data");
      const rest = [set(), ...fleet.intents(), ...fleet.attachments()].filter((one) => one !== undefined);
      expect(rest, `killed after ${writes} writes`).to.deep.equal([]);
      expect(claim?.metadata.finalizers ?? [], `killed after ${writes} writes`).to.deep.equal([]);
      expect(claim?.metadata.labels, `killed after ${writes} writes`).to.deep.equal(allowed);
      deaths = writes;
    }
    expect(deaths).to.be.greaterThan(20);
  }).timeout(120_000);

  it("a node that died lets its volume and its claim go by proof", async () => {
    const fleet = createCSIFleet();
    for (const name of ["n0", "n1"]) fleet.driverNode(name);
    fleet.claim("data", "vol-1");
    fleet.csiSet("a", { persistentVolumeClaim: { namespace: "apps", claimName: "data" } });
    fleet.start();
    await fleet.live(10_000);
    const [first = ""] = fleet.granted();
    fleet.stubborn.add(first);
    fleet.agents.delete(first);
    const taints = [{ key: "node.kubernetes.io/out-of-service", effect: "NoExecute" }];
    fleet.node(first, { taints });
    fleet.agents.delete(first);
    await fleet.live(10_000);
    expect(fleet.granted()).to.have.length(1).and.not.to.include(first);
  });
});

describe("attachments that come and go unseen", () => {
  it("one that was deleted before anybody looked keeps the volume from nobody", async () => {
    const fleet = createCSIFleet();
    for (const name of ["n0", "n1"]) fleet.driverNode(name);
    const { request } = fleet.api;
    let first: string | undefined;
    // The first one is made and deleted within one request, and its node leaves the set.
    fleet.api.request = async (sent) => {
      const answer = await request(sent);
      if (first !== undefined || sent.method !== "POST" || !sent.path.endsWith("volumeattachments")) return answer;
      const [made] = fleet.attachments();
      first = (made?.spec as { nodeName: string } | undefined)?.nodeName ?? "";
      fleet.api.remove("volumeattachments", made?.metadata.name ?? "");
      fleet.node(first, { taints: [{ key: "k", effect: "NoExecute" }] });
      return { status: 504, body: { kind: "Status", status: "Failure", reason: "Timeout", message: "planned" } };
    };
    fleet.csiSet("a", source);
    fleet.start();
    await fleet.live(10_000);
    expect(first).not.to.equal(undefined);
    expect(fleet.granted()).to.have.length(1).and.not.to.include(first);
  });
});
