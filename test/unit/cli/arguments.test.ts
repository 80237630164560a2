import { expect } from "chai";
import { parseArguments, parseDuration } from "../../../src/cli/arguments.ts";
import { candidates } from "../../../src/cli/commands/completion.ts";
import { commandOf, commands } from "../../../src/cli/commands.ts";
import { UsageError } from "../../../src/cli/exit-code.ts";
import { everywhere, ofCluster } from "../../../src/cli/flags.ts";
import { flagsOf, helpOf, overview } from "../../../src/cli/help.ts";
import { nearest } from "../../../src/cli/nearest.ts";

describe("parseArguments", () => {
  const read: readonly [line: string, words: string[], values: object][] = [
    ["volumes worker-1", ["volumes", "worker-1"], {}],
    ["-n shop explain pod/web", ["explain", "pod/web"], { namespace: "shop" }],
    ["explain pod/web --namespace=shop -ojson", ["explain", "pod/web"], { namespace: "shop", output: "json" }],
    ["volumes -o=wide -w", ["volumes"], { output: "wide", watch: "true" }],
    ["volumes -wv --watch=false", ["volumes"], { verbose: "true" }],
    ["volumes -l a=b,c=d", ["volumes"], { selector: "a=b,c=d" }],
    ["export -- --node", ["export", "--node"], {}],
    ["export --node-file -", ["export"], { "node-file": "-" }],
  ];
  for (const [line, words, values] of read) {
    it(`reads ${line}`, () => expect(parseArguments(line.split(" "))).to.deep.equal({ words, values }));
  }

  const refused: readonly [line: string, message: string][] = [
    ["volumes --contxt x", "unknown flag --contxt; did you mean --context?"],
    ["volumes -A", "unknown flag -A"],
    ["volumes -wA", "unknown flag -A in -wA"],
    ["volumes --output", "--output needs a value: --output FORMAT"],
    ["volumes --watch=maybe", '--watch is a switch: it takes true or false, not "maybe"'],
    ["volumes --toString", "unknown flag --toString"],
  ];
  for (const [line, message] of refused) {
    it(`refuses ${line}`, () =>
      expect(() => parseArguments(line.split(" ")))
        .to.throw(UsageError)
        .with.property("message", message));
  }
});

describe("commandOf", () => {
  const refused: readonly [words: string[], values: object, message: string][] = [
    [["volmes"], {}, 'unknown command "volmes"; did you mean volumes?\nThere are volumes, explain,'],
    [["frobnicate"], {}, 'unknown command "frobnicate"\nThere are'],
    [["volumes", "a", "b"], {}, 'kubectl nvi volumes [NODE]: "b" is too much'],
    [
      ["plan"],
      { watch: "true" },
      "plan takes no --watch. It takes --selector, --no-headers, --output, --kubeconfig, --context.",
    ],
    [["version"], { context: "x" }, "version takes no --context. It takes no flags."],
  ];
  for (const [[name = "", ...args], values, message] of refused) {
    it(`refuses ${name} ${args.join(" ")} ${JSON.stringify(values)}`, () =>
      expect(() => commandOf(name, args, values)).to.throw(UsageError, message));
  }
});

describe("nearest", () => {
  const names = commands.map(({ name }) => name);
  for (const [typed, meant] of [
    ["volumse", "volumes"],
    ["exp", "explain"],
    ["drain", "drained"],
    ["WAIT", "wait"],
    ["xyzzy", undefined],
    ["", undefined],
  ] as const) {
    it(`of ${JSON.stringify(typed)} is ${meant}`, () => expect(nearest(typed, names)).to.equal(meant));
  }
});

describe("parseDuration", () => {
  it("reads what kubectl reads, and seconds", () => {
    const read = ["30s", "5m", "1h30m", "1.5s", "90", "0", "250ms"].map((text) => parseDuration(text, "--timeout"));
    expect(read).to.deep.equal([30_000, 300_000, 5_400_000, 1_500, 90_000, 0, 250]);
  });
  for (const text of ["", "5 m", "m", "-5s", "forever", "5d"]) {
    it(`refuses ${JSON.stringify(text)}`, () =>
      expect(() => parseDuration(text, "--timeout")).to.throw(UsageError, "--timeout"));
  }
});

describe("help", () => {
  it("has each command that is not hidden, and its lines fit a terminal", () => {
    for (const command of commands.filter(({ hidden }) => hidden !== true)) {
      expect(overview(commands)).to.include(`  ${command.name}`);
      for (const line of helpOf(command).split("\n")) expect(line.length, line).to.be.at.most(140);
    }
  });

  it("gives every command that asks the cluster the flags for that, and every one those of all", () => {
    for (const command of commands) {
      expect(flagsOf(command)).to.include.members([...everywhere]);
      if (command.usesCluster) expect(flagsOf(command)).to.include.members([...ofCluster]);
    }
  });
});

describe("candidates", () => {
  const names = (words: string[]) => candidates(words, commands)?.map((line) => line.split("\t")[0]);
  it("are commands first, then what the command takes", () => {
    expect(names([""]))
      .to.include.members(["volumes", "explain", "help"])
      .and.not.include("__complete");
    expect(names(["wait", "--f"])).to.include("--for");
    expect(names(["wait", "--for", ""])).to.deep.equal(["ready", "released"]);
    expect(names(["volumes", "-o", ""])).to.deep.equal(["wide", "json", "yaml", "name"]);
    expect(names(["completion", ""])).to.deep.equal(["bash", "zsh", "fish"]);
    expect(names(["help", ""])).to.include("drained");
    expect(names(["nonsense", ""])).to.deep.equal([]);
  });
  it("are asked of the cluster where a name stands", () => expect(names(["drained", ""])).to.equal(undefined));
});
