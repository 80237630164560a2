import { createHash } from "node:crypto";
import { expect } from "chai";
import { whyPage } from "../../../hack/lib/why-page.ts";
import { knownMessages } from "../../../src/explain/why/known-messages.ts";
import { loadPageFiles } from "../../../src/page-files.ts";

/** Bytes that a browser loads before it has data, as they are without gzip. */
const budget = 200 * 1024;

describe("the page's size", () => {
  it("is at most 200 KiB, all of its files together", () => {
    const sizes = [...loadPageFiles()].map(([path, { text }]) => [path, Buffer.byteLength(text)] as const);
    const sum = sizes.reduce((all, [, size]) => all + size, 0);
    expect(sum, sizes.map(([path, size]) => `${path} ${size}`).join(", ")).to.be.below(budget);
  });
});

describe("why.html", () => {
  let html: string;
  before(async function () {
    this.timeout(30_000);
    html = await whyPage();
  });
  const between = (from: string, to: string) => html.slice(html.indexOf(from) + from.length).split(to, 1)[0] ?? "";
  const hash = (text: string) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;

  it("is one file of at most 200 KiB, and the same each time", async () => {
    expect(Buffer.byteLength(html)).to.be.below(budget);
    expect(await whyPage()).to.equal(html);
  });

  it("may run only what is in it, and load nothing", () => {
    const policy = between('http-equiv="Content-Security-Policy" content="', '"');
    expect(policy.split("; ")).to.deep.equal([
      "default-src 'none'",
      `script-src ${hash(between("</script>\n<script>", "</script>"))}`,
      `style-src ${hash(between("<style>", "</style>"))}`,
      "base-uri 'none'",
      "form-action 'none'",
    ]);
    expect(html).not.to.match(/(?:src|href)="(?!#)|url\(|@import|style=|onclick=|<link/);
  });

  it("has every reason and every known message as data, and no markup in it", () => {
    const text = between('<script type="application/json" id="why-table">', "</script>");
    expect(text).not.to.include("<");
    const { reasons, messages } = JSON.parse(text) as { reasons: { code: string }[]; messages: unknown[] };
    expect(reasons.map(({ code }) => code)).to.include.members(["SourceNotFound", "AgentLost"]);
    expect(messages).to.have.length(knownMessages.length);
  });

  it("sets no markup from text, and neither does the page", () => {
    const sources = [html, ...[...loadPageFiles().values()].map(({ text }) => text)];
    for (const text of sources)
      expect(text).not.to.match(/innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(/);
  });
});
