import { expect } from "chai";
import { reasonTextsOf } from "../../../hack/lib/generate-reason-texts.ts";

describe("reasonTextsOf", () => {
  it("has each entry on one line, with links as their text, and nothing of the sections", () => {
    const page =
      "# Reasons\n### Ignored by nobody\n\n## One\nwords\n### A\nBlocked, until it is.\nSee [b](c.md#d), `e`.\n\n## Two\n### F\nNormal.\n";
    expect([...reasonTextsOf(page)]).to.deep.equal([
      ["Ignored by nobody", ""],
      ["A", "Blocked, until it is. See b, `e`."],
      ["F", "Normal."],
    ]);
  });
});
