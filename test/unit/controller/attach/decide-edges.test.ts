import { expect } from "chai";
import { attachmentName, isOwnAttachment } from "../../../../src/controller/attach/attachment-name.ts";
import { isExclusive } from "../../../../src/controller/attach/volume-facts.ts";
import { node } from "../objects.ts";
import { attachment, decide, member } from "./facts-of.ts";

const shared = { mode: "ReadWriteMany" } as const;

describe("who gets a volume, at the edges", () => {
  it("nobody elsewhere while an attachment may be in use, though its node asks again", () => {
    const asking = [member("n0", { nodeID: undefined }), member("n1")];
    expect(decide(asking, [attachment("n0", { grant: "before" })])).to.deep.equal([
      "n0: DriverNotOnNode",
      "n1: VolumeHeldElsewhere",
    ]);
  });

  it("what stays attached with nobody there goes on the out-of-service taint, and else not", () => {
    const left = [attachment("n0", { grant: "before" })];
    expect(decide([], left)).to.deep.equal([]);
    const taints = [{ key: "node.kubernetes.io/out-of-service", effect: "NoExecute" }];
    expect(decide([], left, { node: (name) => node(name, { taints }) })).to.deep.equal(["-n0"]);
  });

  it("not a node that the volume cannot be used on, by its PersistentVolume", () => {
    const one = member("n0", shared);
    const nodeTerms = [{ matchExpressions: [{ key: "zone", operator: "In", values: ["a"] }] }];
    const persistentVolume = { metadata: { name: "pv", uid: "u" }, nodeTerms };
    const resolution = { ...one.resolution, persistentVolume } as unknown as typeof one.resolution;
    const on = (labels: { [key: string]: string }) => decide([{ ...one, resolution, node: node("n0", { labels }) }]);
    expect(on({ zone: "b" })).to.deep.equal(["n0: NodeAffinityMismatch"]);
    expect(on({ zone: "a" })).to.deep.equal(["n0: attach WaitingForAttach"]);
  });

  it("one alone, where the access mode is not known", () => {
    const one = member("n0", shared);
    expect(isExclusive(one)).to.equal(false);
    const waiting = { waiting: { reason: "ClaimNotBound", message: "" } } as unknown as typeof one.resolution;
    expect(isExclusive({ ...one, resolution: waiting })).to.equal(true);
  });

  it("each node an attachment of its own, with a name that kube-controller-manager's never are", () => {
    const [a, b] = ["n0", "n1"].map((name) => attachmentName({ driver: "disk.example", volumeHandle: "vol" }, name));
    expect(a).not.to.equal(b);
    expect([isOwnAttachment(a ?? ""), isOwnAttachment((a ?? "").replace("nvi-", "csi-"))]).to.deep.equal([true, false]);
  });
});
