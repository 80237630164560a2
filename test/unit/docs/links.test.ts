import { globSync } from "node:fs";
import { expect } from "chai";
import { root } from "../../../hack/lib/root.ts";
import { pages, readPage } from "../../lib/docs/blocks.ts";
import { anchorsOf, brokenLinks, linksOf } from "../../lib/docs/links.ts";

const others = globSync(["*.md", "hack/**/*.md", "test/**/*.md"], { cwd: root }).sort();

describe("links of the documentation", () => {
  for (const page of new Set([...pages(), ...others])) {
    it(`of ${page} lead to files and headings that are there`, () => {
      expect(brokenLinks(page, readPage(page))).to.deep.equal([]);
    });
  }

  it("docs/README.md leads to every page of docs, and README.md to docs/README.md", () => {
    const index = new Set(linksOf(readPage("docs/README.md")).map((link) => `docs/${link.split("#")[0]}`));
    const listed = pages().filter((page) => /^docs\/(?!decisions\/0)(?!README)/.test(page));
    expect(listed.filter((page) => !index.has(page))).to.deep.equal([]);
    expect(linksOf(readPage("README.md"))).to.include("docs/README.md");
  });
});

describe("brokenLinks", () => {
  it("finds a file and a heading that are not there, and no fault in others, nor in code", () => {
    const text =
      "# A [b](docs/pods.md#for-administrators)\n[x](nothing.md) [y](#none) [z](#a-b) [w](https://a.b/c) `[v](nowhere)`\n```\n# none\n```\n";
    expect(brokenLinks("SECURITY.md", text)).to.deep.equal([
      "SECURITY.md: there is no nothing.md",
      "SECURITY.md: SECURITY.md has no heading #none",
    ]);
  });
});

describe("anchorsOf", () => {
  it("are as GitHub makes them", () => {
    expect([...anchorsOf("# What `Released` proves, now\n## A\n## A\n## status.failing[]\n")]).to.deep.equal([
      "what-released-proves-now",
      "a",
      "a-1",
      "statusfailing",
    ]);
  });
});
