import { expect } from "chai";
import { attachmentName } from "../../../../src/controller/attach/attachment-name.ts";
import { attachEvent, attachmentEvent, growthEvent } from "../../../../src/controller/attach/volume-events.ts";
import type { Attachment } from "../../../../src/controller/model/storage-objects.ts";
import { projectAttachment } from "../../../../src/controller/model/storage-objects.ts";

const own = attachmentName({ driver: "disk.example", volumeHandle: "vol-1" }, "n0");

function attachment(status: object = {}, name = own): Attachment {
  const spec = { attacher: "disk.example", nodeName: "n0", source: {} };
  const made = projectAttachment({ metadata: { name }, spec, status });
  if (made === undefined) throw new Error("no attachment");
  return made;
}

const [asked, attached, failed] = [
  attachment(),
  attachment({ attached: true }),
  attachment({ attachError: { message: "e" } }),
];

describe("what is told of a VolumeAttachment", () => {
  const cases: readonly [string, Attachment | undefined, Attachment | undefined, string | undefined][] = [
    ["that it is asked for", undefined, asked, "WaitingForAttach"],
    ["that the driver has attached it", asked, attached, "SuccessfulAttachVolume"],
    ["the same after it has failed", failed, attached, "SuccessfulAttachVolume"],
    ["the same of one that is seen late", undefined, attached, "SuccessfulAttachVolume"],
    ["that it is gone", attached, undefined, "SuccessfulDetachVolume"],
    ["nothing more of one that is attached", attached, attached, undefined],
    ["nothing of an attempt that fails: status.attach tells", asked, failed, undefined],
    ["nothing of the next attempt", failed, attachment({ attachError: { message: "f" } }), undefined],
    ["nothing of another's that comes", undefined, attachment({}, "csi-1"), undefined],
    ["nothing of another's that goes", attachment({ attached: true }, "csi-1"), undefined, undefined],
  ];
  for (const [title, before, after, reason] of cases) {
    it(title, () => expect(attachmentEvent(before, after)?.reason).to.equal(reason));
  }
});

describe("what is told of a new reason in status.attach", () => {
  const waitReason = { reason: "AttachFailed", message: "no slot" } as const;
  it("that attaching fails, with the driver's words, bounded", () => {
    const event = attachEvent("n0", undefined, waitReason);
    expect(event).to.deep.include({ type: "Warning", reason: "FailedAttachVolume" });
    expect(event?.message).to.equal("the volume cannot be attached to node n0: no slot");
    const long = attachEvent(
      "n0",
      { reason: "WaitingForAttach" },
      { ...waitReason, message: `\u0000${"x".repeat(5_000)}` },
    );
    expect(Buffer.byteLength(long?.message ?? "")).to.be.lessThan(1_025);
    expect(long?.message).not.to.include("\u0000");
  });
  it("nothing of another attempt, of another reason, or of none", () => {
    expect(attachEvent("n0", { reason: "AttachFailed", message: "before" }, waitReason)).to.equal(undefined);
    expect(attachEvent("n0", undefined, { reason: "Detaching", message: "m" })).to.equal(undefined);
    expect(attachEvent("n0", { reason: "AttachFailed" }, undefined)).to.equal(undefined);
  });
});

describe("what is told of the growth on a node", () => {
  const growing = (reason: string, capacityBytes = "2") => ({ expansion: { capacityBytes, reason, message: "m" } });
  type Growth = Parameters<typeof growthEvent>[1];
  const cases: readonly [string, Growth, Growth, string | undefined][] = [
    ["that it has grown", { capacityBytes: "1" }, { capacityBytes: "2" }, "FileSystemResizeSuccessful"],
    ["nothing of the size from the start", {}, { capacityBytes: "2" }, undefined],
    ["nothing while it goes on", { capacityBytes: "1" }, { capacityBytes: "1", ...growing("Progressing") }, undefined],
    ["that it fails", { capacityBytes: "1" }, { capacityBytes: "1", ...growing("DriverFailed") }, "VolumeResizeFailed"],
    ["that it cannot in use", {}, growing("VolumeInUse"), "VolumeResizeFailed"],
    ["that the node only reads", {}, growing("NoWritableMount"), "FileSystemResizeFailed"],
    ["nothing of the next attempt", growing("DriverFailed"), growing("DriverFailed"), undefined],
    ["another cause", growing("DriverFailed"), growing("VolumeInUse"), "VolumeResizeFailed"],
    ["another size", growing("DriverFailed"), growing("DriverFailed", "3"), "VolumeResizeFailed"],
    ["nothing of a status that no agent of ours wrote", {}, growing("<b>"), undefined],
  ];
  for (const [title, before, after, reason] of cases) {
    it(title, () => expect(growthEvent("n0", before, after)?.reason).to.equal(reason));
  }
  it("that it has grown from its first set-up on only where something was said to be in the way", () => {
    const [stuck, grown] = [growing("VolumeInUse"), { capacityBytes: "2" }];
    expect(growthEvent("n0", stuck, grown)).to.equal(undefined);
    expect(growthEvent("n0", stuck, grown, "VolumeInUse 2")?.reason).to.equal("FileSystemResizeSuccessful");
  });
  it("nothing of a failure that was told, whatever was seen between", () => {
    const [going, failed] = [growing("Progressing"), growing("DriverFailed")];
    expect(growthEvent("n0", going, failed, "DriverFailed 2")).to.equal(undefined);
    expect(growthEvent("n0", going, failed, "DriverFailed 1")?.reason).to.equal("VolumeResizeFailed");
  });
  it("with node, size and cause", () => {
    const message = "the volume does not grow to 2 bytes on node n0: m";
    expect(growthEvent("n0", {}, growing("DriverFailed"))?.message).to.equal(message);
  });
});
