import { expect } from "chai";
import { type ActionContext, recordOf } from "../../../../src/agent/executor/operation-context.ts";
import { asIntentUID, asVolumeName } from "../../../../src/agent/model/identities.ts";
import type { VolumeRecord } from "../../../../src/agent/model/volume-record.ts";

/** The journal is a fake. */
describe("leave to write over what an mkfs that was cut off has left (decision 0013)", () => {
  const identity = "8:16, 1024 bytes, naa.1";
  const stage = { kind: "filesystem", path: "/staging", ready: false, options: [] } as const;

  function leaveOf(uid: string, undo: { readonly [name: string]: string } | undefined) {
    const begun = {
      name: asVolumeName("v"),
      key: "k",
      type: "local",
      uid: asIntentUID("u1"),
      generation: 1,
      targets: [],
      formatting: identity,
    };
    const before = { ...begun, stage: { ...stage, ...(undo && { undo }) } } as VolumeRecord;
    const desired = { name: "v", uid, generation: 2, type: "local", spec: { key: "k" } };
    const context = { journal: { records: new Map([["v", before]]) }, desired } as unknown as ActionContext;
    const { formatting, stage: now, uid: of } = recordOf(context, asVolumeName("v"));
    return { of, formatting, undo: now?.undo };
  }

  it("is of the intent that it was begun for", () => {
    const undo = { mapping: "m", fresh: "header" };
    expect(leaveOf("u1", undo)).to.deep.equal({ of: "u1", formatting: identity, undo });
  });

  it("is not of another, as another node may have had the disk in between", () => {
    expect(leaveOf("u2", undefined)).to.deep.equal({ of: "u2", formatting: undefined, undo: undefined });
    const undo = { mapping: "m", fresh: "header" };
    expect(leaveOf("u2", undo)).to.deep.equal({ of: "u2", formatting: undefined, undo: { mapping: "m" } });
  });

  it("is kept on a logical volume, which no other node has", () => {
    const undo = { volumeGroup: "g", logicalVolume: "l", fresh: "volume" };
    expect(leaveOf("u2", undo)).to.deep.equal({ of: "u2", formatting: identity, undo });
  });
});
