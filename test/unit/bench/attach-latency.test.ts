import { expect } from "chai";
import { measuresOf, sampleOf } from "../../../hack/bench/attach-latency/figures.ts";
import { Attachments, Intents } from "../../../hack/bench/attach-latency/sightings.ts";
import { between, comingSteps, stepsOf, type Timeline } from "../../../hack/bench/attach-latency/timeline.ts";
import { rowsOf } from "../../../hack/bench/report/row.ts";

/** A volume's life in which each step takes so long. */
function life(ms: number): Timeline {
  const steps = ["written", "intent", "attachment", "attached", "granted", "ready"] as const;
  const ends = ["deleted", "revoked", "released", "detaching", "detached", "gone"] as const;
  return Object.fromEntries([...steps, ...ends].map((step, index) => [step, 1000 + index * ms]));
}

describe("the timeline of a volume that attaches", () => {
  it("has each step's time since the one before", () => {
    const figures = stepsOf("coming", comingSteps, { written: 10, intent: 15, attachment: 22 });
    expect(figures).to.deep.equal({ "coming.intent": 5, "coming.attachment": 7 });
  });

  it("does not make up what was not seen", () => {
    expect(() => between({ written: 10 }, "written", "ready")).to.throw("not seen: ready");
    expect(() => between({ ready: 10 }, "written", "ready")).to.throw("not seen: written");
    expect(() => between({ ready: 10, written: 11 }, "written", "ready")).to.throw("ready was seen before written");
  });

  it("has medians of the steps, and quantiles of the whole", () => {
    const sample = sampleOf([life(10), life(30), life(20)]);
    expect(sample).to.include({ mountedP50: 100, mountedMax: 150, "coming.attached": 20, "going.released": 20 });
    expect(sample).to.include({ releasedP50: 100, releasedMax: 150 });
  });

  it("compares the last of many with the pod that has them all, and the only one of one", () => {
    const samples = { ours: [sampleOf([life(10), life(30)])], kubelet: [{ mountedMs: 3000 }] };
    const wanted = (many: boolean) =>
      rowsOf({ benchmark: "b", scenario: "s", scope: "in the agent" }, measuresOf(many), samples).filter(
        (row) => row.wanted !== undefined,
      );
    expect(wanted(true).map(({ ours, kubelet }) => [ours, kubelet])).to.deep.equal([[[150], [3000]]]);
    expect(wanted(false).map(({ ours, kubelet }) => [ours, kubelet])).to.deep.equal([[[50], [3000]]]);
  });
});

describe("what the watches show", () => {
  const attachment = (attached: boolean, deletionTimestamp?: string) => ({
    metadata: { name: "nvi-1", ...(deletionTimestamp !== undefined && { deletionTimestamp }) },
    spec: { nodeName: "node-1" },
    status: { attached },
  });

  it("keeps when a VolumeAttachment was made, attached and gone, once each", () => {
    const attachments = new Attachments();
    attachments.saw({ type: "ADDED", object: attachment(false), at: 1 });
    attachments.saw({ type: "MODIFIED", object: attachment(true), at: 2 });
    attachments.saw({ type: "MODIFIED", object: attachment(true), at: 3 });
    attachments.saw({ type: "MODIFIED", object: attachment(true, "now"), at: 4 });
    attachments.saw({ type: "DELETED", object: attachment(false, "now"), at: 5 });
    expect(attachments.of("nvi-1")).to.deep.equal({ attachment: 1, attached: 2, detaching: 4, detached: 5 });
  });

  it("begins anew with one that is made again under its name", () => {
    const attachments = new Attachments();
    attachments.saw({ type: "ADDED", object: attachment(true), at: 1 });
    attachments.saw({ type: "DELETED", object: attachment(true), at: 2 });
    attachments.saw({ type: "ADDED", object: attachment(false), at: 7 });
    expect(attachments.of("nvi-1")).to.deep.equal({ attachment: 7 });
    expect(attachments.since(8)).to.deep.equal([]);
    expect(attachments.since(7)).to.have.lengthOf(1);
  });

  it("takes an intent as Ready only with the status of its newest spec", () => {
    const intents = new Intents();
    const intent = (generation: number, observedGeneration: number) =>
      ({
        metadata: { name: "i", generation, labels: { "nodevolume.dev/set": "s" } },
        spec: { grant: { id: "1", volumeAttachment: { name: "nvi-1", uid: "u" } } },
        status: { observedGeneration, conditions: [{ type: "Ready", status: "True" }] },
      }) as never;
    intents.saw({ type: "ADDED", object: intent(2, 1), at: 1 });
    expect(intents.of("s")).to.deep.equal({ intent: 1, granted: 1 });
    intents.saw({ type: "MODIFIED", object: intent(2, 2), at: 2 });
    expect(intents.of("s").ready).to.equal(2);
    expect(intents.attachmentOf("s")).to.equal("nvi-1");
    // Another set of that name is to come.
    intents.forget("s");
    expect(intents.of("s")).to.deep.equal({});
    expect(intents.attachmentOf("s")).to.equal(undefined);
  });
});
