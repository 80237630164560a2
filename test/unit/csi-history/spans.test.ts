import { expect } from "chai";
import { attachmentSpans } from "../../csi/history/audit.ts";
import { breachesOf, type Span } from "../../csi/history/spans.ts";

const span = (what: Span["what"], node: string, from: number, to: number | undefined): Span => ({
  volume: "vol-1",
  node,
  what,
  from,
  to,
});

/** A volume that goes from node a to node b as it should. */
const moved: readonly Span[] = [
  span("attachment", "a", 0, 100),
  span("staged", "a", 10, 90),
  span("published", "a", 20, 80),
  span("attachment", "b", 110, 200),
  span("staged", "b", 120, 190),
];

describe("the history of a volume that one node may have at a time", () => {
  it("has no breach when it goes from one node to another", () => {
    expect(breachesOf(moved)).to.deep.equal([]);
  });

  const rulesOf = (spans: readonly Span[]) => [...new Set(breachesOf(spans).map(({ rule }) => rule))].sort();

  it("finds an attachment that was made while another node used the volume", () => {
    const early = moved.map((s) => (s.what === "attachment" && s.node === "b" ? { ...s, from: 85 } : s));
    expect(rulesOf(early)).to.deep.equal(["used beside an attachment elsewhere"]);
  });

  it("finds a volume that two nodes used", () => {
    const twice = [...moved, span("published", "b", 70, 75)];
    expect(rulesOf(twice)).to.deep.equal([
      "used beside an attachment elsewhere",
      "used on two nodes",
      "used without an attachment",
    ]);
  });

  it("finds an attachment that went before the last use", () => {
    const late = moved.map((s) => (s.what === "staged" && s.node === "a" ? { ...s, to: 105 } : s));
    expect(rulesOf(late)).to.deep.equal(["used without an attachment"]);
  });

  it("finds what is left over", () => {
    expect(rulesOf(moved.map((s) => (s.node === "b" ? { ...s, to: undefined } : s)))).to.deep.equal(["left over"]);
  });

  it("says nothing of other volumes", () => {
    const other = moved.map((s): Span => ({ ...s, volume: "vol-2", node: s.node === "a" ? "b" : "a" }));
    expect(breachesOf([...moved, ...other])).to.deep.equal([]);
  });
});

describe("attachments in an audit log", () => {
  const line = (second: number, verb: string, metadata: object, code = 200, kind = "VolumeAttachment") =>
    JSON.stringify({
      verb,
      objectRef: { resource: "volumeattachments", name: "nvi-1" },
      requestReceivedTimestamp: `2026-01-01T00:00:0${second}.000001Z`,
      stageTimestamp: `2026-01-01T00:00:0${second}.500000Z`,
      responseStatus: { code },
      responseObject: { kind, metadata: { name: "nvi-1", ...metadata }, spec: { nodeName: "a" } },
    });
  const start = Date.UTC(2026, 0, 1) * 1000;
  const volumeOf = () => "vol-1";

  it("last from the request that makes one to the answer that lets it go", () => {
    const deleted = { deletionTimestamp: "2026-01-01T00:00:02Z" };
    const log = [
      line(1, "create", {}),
      line(2, "delete", { ...deleted, finalizers: ["external-attacher/x"] }),
      line(3, "patch", deleted, 409),
      line(4, "patch", deleted),
    ].join("\n");
    expect(attachmentSpans(log, volumeOf)).to.deep.equal([
      { volume: "vol-1", node: "a", what: "attachment", from: start + 1_000_001, to: start + 4_500_000 },
    ]);
  });

  it("last until now while nothing let them go, and come again under the same name", () => {
    const log = [line(1, "create", {}), line(2, "delete", {}, 200, "Status"), line(3, "create", {})].join("\n");
    expect(attachmentSpans(log, volumeOf).map(({ to }) => to)).to.deep.equal([start + 2_500_000, undefined]);
  });

  it("do not begin with a request that was refused", () => {
    expect(attachmentSpans(line(1, "create", {}, 403), volumeOf)).to.deep.equal([]);
  });
});
