import { expect } from "chai";
import { type VolumeState, withAttach } from "../../../../src/agent/status/volume-summary.ts";

const word = { reason: "VolumeHeldElsewhere", message: "node b has the volume (disk-3) since noon" } as const;
const standing = (state: VolumeState["state"], reason: VolumeState["reason"]): VolumeState => {
  return { state, ready: "False", reason, message: "its own words" };
};

describe("withAttach", () => {
  it("says of a volume that waits for its grant what the controller knows", () => {
    for (const state of ["WaitingForGrant", "WaitingForAttach"] as const) {
      expect(withAttach(standing(state, "NotGranted"), word)).to.deep.equal({ state, ready: "False", ...word });
    }
  });

  it("keeps its own words where it knows more, and where the controller says nothing that it understands", () => {
    const busy = standing("Waiting", "DeviceBusy");
    expect(withAttach(busy, word)).to.equal(busy);
    const waits = standing("WaitingForGrant", "NotGranted");
    expect(withAttach(waits, undefined)).to.equal(waits);
    expect(withAttach(waits, { reason: "OfAnotherVersion" })).to.equal(waits);
  });
});
