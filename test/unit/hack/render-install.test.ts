import { expect } from "chai";
import { imageOf } from "../../../hack/release/render-install.ts";

describe("imageOf", () => {
  const digest = `sha256:${"0a".repeat(32)}`;

  it("takes a tag or a digest, also of a registry with a port", () => {
    expect(imageOf("registry.example.com:5000/nvo:1.2.3")).to.deep.equal({
      name: "registry.example.com:5000/nvo",
      tag: "1.2.3",
    });
    expect(imageOf(`registry.example.com/nvo@${digest}`)).to.deep.equal({ name: "registry.example.com/nvo", digest });
  });

  it("refuses what would be another program tomorrow, or no reference", () => {
    for (const reference of [
      "nvo",
      "registry.example.com:5000/nvo",
      `nvo@${digest.slice(0, 20)}`,
      "nvo:",
      "",
      "a b:1",
    ]) {
      expect(() => imageOf(reference), reference).to.throw(/NAME:TAG or NAME@sha256:DIGEST/);
    }
  });
});
