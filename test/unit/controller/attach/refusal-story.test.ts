import { expect } from "chai";
import type { ApiRequest, ApiResponse } from "../../../../src/kube/transport.ts";
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
        expect(fleet.word("n0")).to.equal(reason);
        expect(fleet.intent("n0").status.attach?.message).to.include("a webhook says no");
        expect(state.refused).to.be.within(3, 12);
        const before = state.refused;
        await fleet.live(120_000);
        expect(state.refused - before).to.be.within(2, 8);
        expect(fleet.word("n0")).to.equal(reason);
        state.over = true;
        await fleet.live(61_000);
        expect(fleet.granted()).to.deep.equal(["n0"]);
        expect(fleet.word("n0")).to.equal(undefined);
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
