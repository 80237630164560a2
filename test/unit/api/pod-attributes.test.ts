import { expect } from "chai";
import { podVolumeRequest } from "../../../src/api/pod-attributes.ts";

const wish = (attributes: { [key: string]: string }, readOnly = false) =>
  podVolumeRequest(new Map(Object.entries(attributes)), readOnly);

describe("what a pod's inline volume asks for", () => {
  it("is a set, or a claim", () => {
    expect(wish({ set: "datasets" })).to.deep.equal({ wants: { set: "datasets" }, readOnly: false });
    const claim = { persistentVolumeClaim: "data" };
    expect(wish(claim)).to.deep.equal({ wants: claim, readOnly: false });
  });

  it("is read-only if the attribute or the volume says so", () => {
    expect(wish({ set: "a", readOnly: "true" })).to.include({ readOnly: true });
    expect(wish({ set: "a", readOnly: "false" }, true)).to.include({ readOnly: true });
    expect(wish({ set: "a", readOnly: "false" })).to.include({ readOnly: false });
  });

  it("has a path beneath the volume", () => {
    for (const subPath of ["a", "a/b", ".hidden", "..a/...", "a b", "a".repeat(512)])
      expect(wish({ set: "a", subPath })).to.include({ subPath });
  });

  it("leaves out what kubelet adds", () => {
    const info = { "csi.storage.k8s.io/pod.name": "p", "csi.storage.k8s.io/ephemeral": "true" };
    expect(wish({ set: "a", ...info })).to.deep.equal({ wants: { set: "a" }, readOnly: false });
  });

  const refused: readonly [{ [key: string]: string }, string, string][] = [
    [{}, "set", "or persistentVolumeClaim is needed"],
    [{ set: "a", persistentVolumeClaim: "b" }, "set", "exclude each other"],
    [{ set: "" }, "set", 'must be the name of an object, not ""'],
    [{ set: "Data" }, "set", "must be the name of an object"],
    [{ set: "a/b" }, "set", "must be the name of an object"],
    [{ set: "a".repeat(254) }, "set", "must be the name of an object"],
    [{ persistentVolumeClaim: "team/data" }, "persistentVolumeClaim", "must be the name of an object"],
    [{ set: "a", readOnly: "yes" }, "readOnly", 'must be "true" or "false"'],
    [
      { set: "a", readonly: "true" },
      "readonly",
      "is not known; there are set, persistentVolumeClaim, subPath, readOnly",
    ],
    ...["", "/a", "a/", "a//b", ".", "a/./b", "..", "a/../b", "a\nb", "a\u2028b", "a".repeat(513)].map(
      (subPath) => [{ set: "a", subPath }, "subPath", "must be a relative path"] as const,
    ),
  ].map(([attributes, key, why]) => [attributes as { [key: string]: string }, key as string, why as string]);
  for (const [attributes, key, why] of refused) {
    it(`refuses ${JSON.stringify(attributes).slice(0, 60)}: ${key} ${why.slice(0, 40)}`, () => {
      const found = wish(attributes);
      expect(found).to.have.property("field", `csi.volumeAttributes[${key}]`);
      expect((found as { message: string }).message).to.include(why);
    });
  }
});
