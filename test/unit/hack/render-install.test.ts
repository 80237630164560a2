import { expect } from "chai";
import { imageOf, referencesIn } from "../../../hack/release/render-install.ts";

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

describe("referencesIn", () => {
  const known = { controller: undefined, agent: undefined, base: "node:1" };

  it("takes one reference for each image, and the usual one where none is named", () => {
    expect(referencesIn(["agent=r/a:1", "controller=r/c:1"], known)).to.deep.equal({
      ...{ controller: "r/c:1", agent: "r/a:1", base: "node:1" },
    });
  });

  const refused: readonly [string, string[], string][] = [
    ["one that is missing", ["agent=r/a:1"], "--image controller=REFERENCE is needed"],
    ["one for none of the images", ["r/a:1"], "--image r/a:1: WHICH=REFERENCE, of controller, agent, base"],
    ["one for another image", ["constructor=r/a:1"], "WHICH=REFERENCE"],
    ["one that is named twice", ["agent=r/a:1", "agent=r/a:2"], "agent is named twice"],
  ];
  for (const [what, given, words] of refused) {
    it(`refuses ${what}`, () => {
      expect(() => referencesIn(given, known)).to.throw(words);
    });
  }
});
