import { expect } from "chai";
import { blocksOf, languages, pages, parseBlocks, parseConsole, runElsewhere } from "../../lib/docs/blocks.ts";

describe("code in the documentation", () => {
  for (const page of pages()) {
    it(`of ${page} is of a kind that a test knows, with a reason where it is not run`, () => {
      for (const { line, language, text, told } of blocksOf(page)) {
        const at = `${page}:${line}`;
        expect(languages, at).to.include(language);
        for (const [directive, values] of told)
          for (const value of values) expect(value.length, `${at}: ${directive}`).to.be.above(2);
        const reason = told.get("not run")?.join(" ");
        if (reason !== undefined) expect(reason.split(" ").length, `${at}: why it is not run`).to.be.above(3);
        if (language === "") expect(text, `${at}: commands are sh or console`).not.to.match(/^(\$|[a-z0-9-]+#) /m);
        if (language === "console") expect(parseConsole({ page, line, text }), at).not.to.have.length(0);
        if (language === "" || language === "ts")
          expect(
            [...told.keys()].filter((one) => one !== "file"),
            at,
          ).to.deep.equal([]);
        if (runElsewhere.includes(page) && language === "console") expect(told.size, at).to.equal(0);
      }
    });
  }
});

describe("parseBlocks", () => {
  it("takes what stands above a block, and nothing from further up", () => {
    const text = "<!-- needs: root -->\n\n<!-- before: a -->\n<!-- before: b -->\n```sh\nc\n```\n";
    const [block] = parseBlocks("x.md", text);
    expect(block).to.deep.include({ line: 5, language: "sh", text: "c\n" });
    expect([...(block?.told ?? [])]).to.deep.equal([["before", ["a", "b"]]]);
  });

  it("refuses what it does not know, and a block without an end", () => {
    expect(() => parseBlocks("x.md", "<!-- not runn: it -->\n```sh\nc\n```")).to.throw('x.md:1: "not runn" is none of');
    expect(() => parseBlocks("x.md", "a\n```sh\nc\n")).to.throw("x.md:2: the block has no end");
  });
});

describe("parseConsole", () => {
  const of = (text: string) => parseConsole({ page: "x.md", line: 1, text });

  it("tells lines that are typed from what comes of them, and where", () => {
    expect(of("$ a \\\n    b\nc\nd\nnode-1# e\n")).to.deep.equal([
      { where: "$", command: "a \\\n    b", output: "c\nd\n" },
      { where: "node-1", command: "e", output: "" },
    ]);
  });

  it("refuses a block that does not begin with a prompt", () => {
    expect(() => of("c\n$ a\n")).to.throw("begins with no prompt");
  });
});
