import { expect } from "chai";
import { attachmentSpans } from "../../csi/history/audit.ts";

/** A line as the API server writes it, `at` microseconds after a second began. */
function line(verb: string, at: number, object: object, more: object = {}): string {
  const stageTimestamp = `2026-01-01T00:00:00.${String(at + 1).padStart(6, "0")}Z`;
  const requestReceivedTimestamp = `2026-01-01T00:00:00.${String(at).padStart(6, "0")}Z`;
  const objectRef = { resource: "volumeattachments", name: "nvi-1" };
  const responseStatus = { code: 200 };
  return JSON.stringify({
    verb,
    objectRef,
    requestReceivedTimestamp,
    stageTimestamp,
    responseStatus,
    responseObject: object,
    ...more,
  });
}

const attachment = (persistentVolumeName: string, metadata: object = {}, nodeName = "node-1") => ({
  kind: "VolumeAttachment",
  metadata: { name: "nvi-1", ...metadata },
  spec: { nodeName, source: { persistentVolumeName } },
});
const handleOf = (volume: string) => ({ "pv-1": "handle-1", "pv-2": "handle-2" })[volume];
const startOf = Date.parse("2026-01-01T00:00:00Z") * 1000;

describe("attachmentSpans", () => {
  it("is from the request that made one to the answer that let it go, by the PersistentVolume", () => {
    const leaving = { deletionTimestamp: "2026-01-01T00:00:00Z", finalizers: ["attacher"] };
    const log = [
      line("create", 10, attachment("pv-1")),
      line("patch", 20, attachment("pv-1", { finalizers: ["attacher"] })),
      line("delete", 30, attachment("pv-1", leaving)),
      line("patch", 40, attachment("pv-1", { ...leaving, finalizers: [] })),
      line("create", 50, attachment("pv-2", {}, "node-2")),
    ];
    const from = (us: number) => startOf + us;
    expect(attachmentSpans(`${log.join("\n")}\n`, handleOf)).to.deep.equal([
      { volume: "handle-1", node: "node-1", what: "attachment", from: from(10), to: from(41) },
      { volume: "handle-2", node: "node-2", what: "attachment", from: from(50), to: undefined },
    ]);
  });

  it("leaves out other volumes' and what was refused, and ends one that a deletion without a body tells of", () => {
    const log = [
      line("create", 10, attachment("pv-of-another")),
      line("create", 20, attachment("pv-1"), { responseStatus: { code: 403 } }),
      line("create", 30, attachment("pv-2")),
      line("delete", 40, { kind: "Status" }),
    ];
    expect(attachmentSpans(log.join("\n"), handleOf)).to.deep.equal([
      { volume: "handle-2", node: "node-1", what: "attachment", from: startOf + 30, to: startOf + 41 },
    ]);
  });
});
