import { existsSync, globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { root } from "../../../hack/lib/root.ts";
import { parseArguments } from "../../../src/cli/arguments.ts";
import { commandOf, commands } from "../../../src/cli/commands.ts";
import { UsageError } from "../../../src/cli/exit-code.ts";
import { type Flag, flags } from "../../../src/cli/flags.ts";
import { flagsOf } from "../../../src/cli/help.ts";
import { type Block, blocksOf, pages, parseConsole, readPage } from "../../lib/docs/blocks.ts";
import { flagsIn, nviArguments, nviCommands } from "../../lib/docs/words.ts";

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

describe("command lines of kubectl nvi in the documentation", () => {
  /** What is wrong with one by the parser of the command line itself; undefined if nothing is. */
  function problemOf(line: readonly string[]): string | undefined {
    // What follows it is somebody's unfinished line.
    if (line[0] === "__complete") return undefined;
    try {
      const { words, values } = parseArguments(line);
      const [name = "", ...args] = words;
      const command = commandOf(name, args, values);
      const needed = command.args.filter((arg) => !arg.startsWith("["));
      const format = values.output as (typeof command.formats)[number] | undefined;
      if (args.length < needed.length) return `${name} needs ${needed.join(" ")}`;
      return format === undefined || command.formats.includes(format) ? undefined : `${name} has no -o ${format}`;
    } catch (error) {
      if (error instanceof UsageError) return error.message;
      throw error;
    }
  }

  // Of docs/kubectl-nvi.md each line is carried out, also those that are wrong on purpose.
  for (const page of pages().filter((one) => one !== "docs/kubectl-nvi.md")) {
    const lines = blocksOf(page).flatMap((block) => typedIn(block).flatMap(nviArguments));
    if (lines.length === 0) continue;
    it(`of ${page} are taken by its parser`, () => {
      const problems = lines.map((line) => [line.join(" "), problemOf(line)] as const);
      expect(problems.filter(([, problem]) => problem !== undefined)).to.deep.equal([]);
    });
  }

  function typedIn(block: Block): string[] {
    if (block.language === "console") return parseConsole(block).map(({ command }) => command);
    return block.language === "sh" ? [block.text.replace(/(^| )#.*$/gm, "")] : [];
  }

  it("are found wrong with a command, a flag, an argument or a format too much or too little", () => {
    const wrong = ["volmes", "wait", "wait a b", "wait a --tmeout 1s", "plan -o wide", "wait a --timeout"];
    expect(wrong.map((line) => problemOf(line.split(" ")) !== undefined)).to.deep.equal(wrong.map(() => true));
    expect(problemOf(["drained", "a", "--wait", "--timeout", "10m"])).to.equal(undefined);
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

describe("nviArguments", () => {
  it("are the words that a shell hands over, without quotes, up to a pipe, a redirection or a comment", () => {
    const typed =
      "cat x | kubectl nvi export --node a >y\nkubectl-nvi release a b --reason 'off, #4' # so\ndist/kubectl-nvi x";
    expect(nviArguments(typed)).to.deep.equal([
      ["export", "--node", "a"],
      ["release", "a", "b", "--reason", "off, #4"],
    ]);
  });
});
