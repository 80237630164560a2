import { expect } from "chai";
import type { ApiRequest, ApiResponse } from "../../../../src/kube/client/transport.ts";
import { refusal } from "../../fake-api-objects.ts";
import type { CSIFleet } from "./csi-fleet.ts";
import { createCSIFleet, driver } from "./csi-fleet.ts";

const source = { csi: { driver, volumeHandle: "vol-1" } };

/** Lets the server refuse what matches, until `over`. */
function refuse(fleet: CSIFleet, matches: (request: ApiRequest) => boolean, answer: ApiResponse) {
  const { request } = fleet.api;
  const state = { over: false, refused: 0 };
  fleet.api.request = (sent) => {
    if (state.over || !matches(sent)) return request(sent);
    state.refused += 1;
    return Promise.resolve(answer);
  };
  return state;
}

const creates = ({ method, path }: ApiRequest) => method === "POST" && path.endsWith("volumeattachments");
const grants = ({ method, body }: ApiRequest) =>
  method === "PATCH" && JSON.stringify(body ?? {}).includes('"grant":{"id"');

describe("a write that the server refuses", () => {
  for (const [what, matches, reason] of [
    ["VolumeAttachment", creates, "AttachFailed"],
    ["grant", grants, "Invalid"],
  ] as const) {
    for (const status of [403, 422]) {
      it(`a ${what} (${status}) is said, tried again at growing intervals, and done in the end`, async () => {
        const fleet = createCSIFleet();
        fleet.driverNode("n0");
        const state = refuse(fleet, matches, refusal(status, "Refused", "a webhook says no"));
        fleet.csiSet("a", source);
        fleet.start();
        await fleet.live(10_000);
        expect(fleet.waitReason("n0")).to.equal(reason);
        expect(fleet.intent("n0").status.attach?.message).to.include("a webhook says no");
        expect(state.refused).to.be.within(3, 12);
        const before = state.refused;
        await fleet.live(120_000);
        expect(state.refused - before).to.be.within(2, 8);
        expect(fleet.waitReason("n0")).to.equal(reason);
        state.over = true;
        await fleet.live(61_000);
        expect(fleet.granted()).to.deep.equal(["n0"]);
        expect(fleet.waitReason("n0")).to.equal(undefined);
      });
    }
  }

  it("a grant that has no answer is not tried again by the traces of the attempt", async () => {
    const fleet = createCSIFleet();
    fleet.driverNode("n0");
    const state = refuse(fleet, grants, refusal(500, "InternalError", "failed calling webhook"));
    fleet.csiSet("a", source);
    fleet.start();
    await fleet.live(10_000);
    expect(state.refused).to.be.within(3, 12);
    state.over = true;
    await fleet.live(61_000);
    expect(fleet.granted()).to.deep.equal(["n0"]);
  });

  it("another spec is tried at once", async () => {
    const fleet = createCSIFleet();
    fleet.driverNode("n0");
    const state = refuse(fleet, grants, refusal(422, "Invalid", "spec.mounts: no"));
    fleet.csiSet("a", source);
    fleet.start();
    await fleet.live(100_000);
    state.over = true;
    fleet.api.patch("nodevolumeintents", fleet.intent("n0").metadata.name, { spec: { suspend: true } });
    await fleet.live(500);
    expect(fleet.granted()).to.deep.equal(["n0"]);
  });
});

const claimSource = { persistentVolumeClaim: { namespace: "apps", claimName: "data" } };

/** A claim that many may have, for a set `a` on n0 and what else is asked for. */
function claimedFleet(): CSIFleet {
  const fleet = createCSIFleet();
  for (const name of ["n0", "n1"]) {
    fleet.driverNode(name);
    fleet.node(name, { labels: { role: name } });
  }
  fleet.claim("data", "vol-1", { accessModes: ["ReadWriteMany"] });
  fleet.csiSet("a", claimSource, { nodeSelector: { role: "n0" } });
  return fleet;
}

const forB = { nodeSelector: { role: "n1" }, mounts: [{ name: "host", path: "/mnt/nodevolume/b" }] };
const listsPods = ({ method, path }: ApiRequest) => method === "GET" && path.endsWith("/pods");
const takesClaim = ({ method, path }: ApiRequest) => method === "PATCH" && path.includes("/persistentvolumeclaims/");
const forbidden = refusal(403, "Forbidden", "not for you");

describe("a claim that cannot be reserved", () => {
  it("is said, and granted to nobody, until it can", async () => {
    const fleet = claimedFleet();
    const state = refuse(fleet, listsPods, forbidden);
    fleet.start();
    await fleet.live(10_000);
    expect(fleet.waitReason("n0")).to.equal("PolicyMissing");
    expect(fleet.intent("n0").status.attach?.message).to.include("not for you");
    expect([fleet.granted(), fleet.attachments()]).to.deep.equal([[], []]);
    state.over = true;
    await fleet.live(90_000);
    expect(fleet.granted()).to.deep.equal(["n0"]);
    expect(fleet.waitReason("n0")).to.equal(undefined);
  });

  it("is granted to nobody while the server does not answer", async () => {
    const fleet = claimedFleet();
    const state = refuse(fleet, listsPods, refusal(500, "InternalError", "later"));
    fleet.start();
    await fleet.live(10_000);
    expect([state.refused > 2, fleet.granted(), fleet.attachments()]).to.deep.equal([true, [], []]);
  });

  it("holds up no release of the same volume", async () => {
    const fleet = claimedFleet();
    const state = refuse(fleet, (sent) => listsPods(sent) || takesClaim(sent), forbidden);
    state.over = true;
    fleet.start();
    await fleet.live(10_000);
    expect(fleet.granted()).to.deep.equal(["n0"]);
    state.over = false;
    // A second claim of the volume, which is to be taken first.
    const { spec } = fleet.api.object("persistentvolumes", "pv-vol-1") as unknown as { spec: object };
    fleet.claim("twin", "vol-2");
    const claimRef = {
      namespace: "apps",
      name: "twin",
      uid: fleet.api.object("persistentvolumeclaims", "apps/twin")?.metadata.uid,
    };
    fleet.api.patch("persistentvolumes", "pv-vol-2", { spec: { ...spec, claimRef } });
    fleet.csiSet("b", claimSource, forB);
    await fleet.live(2_000);
    fleet.node("n0", { labels: { role: "none" } });
    await fleet.live(30_000);
    expect(fleet.attachments()).to.deep.equal([]);
    expect(fleet.intents().map((intent) => intent.spec.nodeName)).to.deep.equal(["n1"]);
    expect(fleet.waitReason("n1")).to.equal("PolicyMissing");
  });
});

describe("a node that cannot be told of a larger size", () => {
  it("keeps it from no other", async () => {
    const nodes = 20;
    const fleet = createCSIFleet();
    for (let i = 0; i < nodes; i += 1) fleet.driverNode(`n${i}`);
    fleet.claim("data", "vol-1", { accessModes: ["ReadWriteMany"] });
    fleet.csiSet("a", claimSource);
    fleet.start();
    await fleet.live(10_000);
    expect(fleet.granted()).to.have.length(nodes);
    const larger = String(2 ** 31);
    const tells = ({ method, body }: ApiRequest) => method === "PATCH" && JSON.stringify(body ?? {}).includes(larger);
    const { name } = fleet.intent("n0").metadata;
    refuse(fleet, (sent) => tells(sent) && sent.path.endsWith(name), forbidden);
    fleet.api.patch("persistentvolumes", "pv-vol-1", { spec: { capacity: { storage: "2Gi" } } });
    await fleet.system.advance(100);
    const told = fleet.intents().filter(({ spec }) => spec.capacityBytes === larger);
    expect(told).to.have.length(nodes - 1);
  });
});
