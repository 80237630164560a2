import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { root } from "../../hack/lib/root.ts";
import { commentsOf, wideComments } from "./comments.ts";

const wide = "word ".repeat(25);

/** TypeScript files of the repository that people write. */
function sources(): string[] {
  const args = ["ls-files", "--cached", "--others", "--exclude-standard", "--", "src", "hack", "test"];
  const listed = execFileSync("git", args, { cwd: root, encoding: "utf8" }).trim().split("\n");
  return listed.filter((path) => /(?<!\.gen)\.ts$/.test(path) && existsSync(join(root, path)));
}

describe("comments", () => {
  it("are at most 120 columns wide", () => {
    const files = sources();
    expect(files.length).to.be.greaterThan(100);
    const found = files.flatMap((path) => wideComments(path, readFileSync(join(root, path), "utf8")));
    if (found.length > 0) throw new Error(`${found.length} found:\n${found.join("\n")}`);
  });

  const caught: readonly [string, number][] = [
    [`const a = 1;\n// ${wide}\n`, 2],
    [`/** ${wide}*/\nconst a = 1;\n`, 1],
    [`/**\n * Short.\n * ${wide}\n */\nconst a = 1;\n`, 3],
    [`const a = 1; // ${wide}\n`, 1],
    [`\`\${/"/.exec(a)}\`;\n// ${wide}\n`, 2],
  ];
  for (const [text, line] of caught) {
    it(`catch ${JSON.stringify(text.replace(wide, "…"))} in line ${line}`, () => {
      expect(wideComments("src/x.ts", text)).to.have.length(1);
      expect(wideComments("src/x.ts", text)[0]).to.match(new RegExp(`^src/x\\.ts:${line}: .*wrap it at 120`));
    });
  }

  const allowed = [
    `const a = "// ${wide}";\n`,
    `const a = \`\n// ${wide}\n\`;\n`,
    `const a = /[/*] ${wide}/;\n`,
    `/** https://example.org/${"a".repeat(120)} */\n`,
    `// ${"a".repeat(117)}\n`,
  ];
  for (const text of allowed) {
    it(`allow ${JSON.stringify(text.replace(wide, "…"))}`, () => {
      expect(wideComments("src/x.ts", text)).to.deep.equal([]);
    });
  }

  it("are found between strings, templates and regular expressions", () => {
    const text = `const a = "/*"; // b\nconst c = \`\${/\`/.test(a) /* d */}\`; /** e */\nreturn /\\/\\*/; // f`;
    const found = commentsOf(text).map(({ start, end }) => text.slice(start, end));
    expect(found).to.deep.equal(["// b", "/* d */", "/** e */", "// f"]);
  });
});
