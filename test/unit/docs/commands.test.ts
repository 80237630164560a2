import { existsSync, globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { root } from "../../../hack/lib/root.ts";
import { commands } from "../../../src/cli/commands.ts";
import { type Flag, flags } from "../../../src/cli/flags.ts";
import { flagsOf } from "../../../src/cli/help.ts";
import { pages, readPage } from "../../lib/docs/blocks.ts";
import { flagsIn, nviCommands } from "../../lib/docs/words.ts";

/** Mistyped on purpose, to show what is said of it. */
const mistyped: readonly string[] = ["docs/kubectl-nvi.md: volmes", "docs/kubectl-nvi.md: volumes --contxt"];

const texts = [
  ...pages(),
  ...globSync(["*.md", "config/**/*.yaml", "src/**/*.ts", "test/**/*.md"], { cwd: root }).filter(
    (path) => path !== "README.md",
  ),
];

describe("kubectl nvi in documentation, manifests and messages", () => {
  const known = new Map(
    commands.map((command) => {
      const table: { readonly [name: string]: Flag } = flags;
      const names = flagsOf(command).flatMap((name) => [`--${name}`, `-${table[name]?.short ?? "-"}`]);
      return [command.name, new Set(names)] as const;
    }),
  );

  it("has only commands and flags that there are", () => {
    const wrong: string[] = [];
    let found = 0;
    for (const path of texts) {
      // Beside Markdown only what stands in code quotes: all else may be words about it.
      const text = path.endsWith(".md")
        ? readPage(path)
        : (readPage(path).match(/`kubectl[ -]nvi [^`]*`/g) ?? []).join("\n");
      for (const [name = "", ...words] of nviCommands(text)) {
        found += 1;
        const taken = known.get(name);
        if (taken === undefined) wrong.push(`${path}: ${name}`);
        else for (const flag of flagsIn(words)) if (!taken.has(flag)) wrong.push(`${path}: ${name} ${flag}`);
      }
    }
    expect(wrong.filter((one) => !mistyped.includes(one))).to.deep.equal([]);
    expect(found).to.be.above(50);
  });
});

describe("commands of this repository in the documentation", () => {
  const scripts = Object.keys(
    (JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { scripts: { [name: string]: string } }).scripts,
  );

  for (const page of pages())
    it(`of ${page} are there: npm scripts, and the files of config, hack, crds and test`, () => {
      const text = readPage(page);
      for (const [, name] of text.matchAll(/npm run ([a-z:]+)/g)) expect(scripts, page).to.include(name);
      const named = [...text.matchAll(/(?<![\w./-])((?:config|hack|crds)\/[\w.-]+(?:\/[\w.-]+)*)/g)];
      const missing = named
        .map(([, path = ""]) => path.replace(/[.]+$/, ""))
        .filter((path) => !existsSync(join(root, path)));
      expect([...new Set(missing)]).to.deep.equal([]);
    });
});

describe("nviCommands", () => {
  it("finds what is typed, and not what is only said", () => {
    expect(
      nviCommands("`kubectl nvi explain pod/x -n shop | less`, or kubectl nvi: see kubectl-nvi wait. `kubectl nvi`"),
    ).to.deep.equal([["explain", "pod/x", "-n", "shop"], ["wait"]]);
    expect(flagsIn(["pod/x", "-n", "shop", "--for=released", "--wait."])).to.deep.equal(["-n", "--for", "--wait"]);
  });
});
