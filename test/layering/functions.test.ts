import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { root } from "../../hack/lib/root.ts";
import { type LongFunction, longestFunction, longFunctions } from "./functions.ts";

/** TypeScript files of src that people write. */
function sources(): string[] {
  const args = ["ls-files", "--cached", "--others", "--exclude-standard", "--", "src"];
  const listed = execFileSync("git", args, { cwd: root, encoding: "utf8" }).trim().split("\n");
  return listed.filter((path) => /(?<!\.gen)\.ts$/.test(path) && existsSync(join(root, path)));
}

function found(text: string): readonly Omit<LongFunction, "path">[] {
  return longFunctions(new Map([["src/x.ts", text]])).map(({ path: _, ...of }) => of);
}

const lines = (count: number) => "  f();\n".repeat(count);
const inner = (count: number) => `  const inner = () => {\n${lines(count)}  };\n`;

describe("functions", () => {
  it(`have at most ${longestFunction} lines of their own in src`, () => {
    const files = sources();
    expect(files.length).to.be.greaterThan(100);
    const long = longFunctions(new Map(files.map((path) => [path, readFileSync(join(root, path), "utf8")])));
    const texts = long.map(({ path, name, line, lines }) => `${path}:${line}: ${name} has ${lines} lines of its own`);
    if (texts.length > 0) throw new Error(`${texts.length} found:\n${texts.join("\n")}`);
  });

  it("are counted with their first and their last line", () => {
    expect(found(`function a() {\n${lines(58)}}\n`)).to.deep.equal([]);
    expect(found(`\nfunction a() {\n${lines(59)}}\n`)).to.deep.equal([{ name: "a", line: 2, lines: 61 }]);
  });

  it("are counted without the functions inside of them, which are counted alone", () => {
    expect(found(`function a() {\n${inner(30)}${inner(30)}}\n`)).to.deep.equal([]);
    const long = { name: "inner", line: 2, lines: 62 };
    expect(found(`function a() {\n${inner(60)}}\n`)).to.deep.equal([long]);
    const outer = { name: "a", line: 1, lines: 61 };
    expect(found(`function a() {\n${lines(57)}${inner(60)}}\n`)).to.deep.equal([{ ...long, line: 59 }, outer]);
  });

  it("are those of classes, objects and arrows, too, and a type is none", () => {
    expect(found(`class A {\n  m() {\n${lines(59)}  }\n}\n`)).to.deep.equal([{ name: "m", line: 2, lines: 61 }]);
    expect(found(`const a = {\n  m: () => {\n${lines(59)}  },\n};\n`)).to.deep.equal([
      { name: "m", line: 2, lines: 61 },
    ]);
    expect(found(`f(() => {\n${lines(59)}});\n`)).to.deep.equal([{ name: "", line: 1, lines: 61 }]);
    expect(found(`type A = {\n${"  m(): void;\n".repeat(80)}};\n`)).to.deep.equal([]);
  });
});
