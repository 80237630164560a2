import { execFileSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { grepVariable, type Lane, wantedVariable } from "../../../hack/lib/lanes/lanes.ts";
import type { TestResult } from "../../../hack/lib/lanes/results.ts";
import { runLanes } from "../../../hack/lib/lanes/run-lanes.ts";
import { runSecondTry } from "../../../hack/lib/lanes/run-second-try.ts";
import { toTryAgain, verdictOf } from "../../../hack/lib/lanes/second-try.ts";
import { slow } from "../../../hack/lib/lanes/slow.ts";
import { slownessVariable } from "../../../hack/lib/lanes/slowness.ts";
import { root } from "../../../hack/lib/root.ts";
import { runVariable } from "../../../hack/lib/sandbox/outside.ts";

describe("runLanes", () => {
  let folder: string;

  beforeEach(() => {
    mkdirSync(join(root, "dist"), { recursive: true });
    folder = mkdtempSync(join(root, "dist/lanes-")); // a sandbox has a /tmp of its own
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  const lane = (name: string, script: string, more: Partial<Lane> = {}): Lane => {
    return { name, what: name, work: { kind: "command", command: ["sh", "-c", script] }, limitMinutes: 1, ...more };
  };

  /** A lane of one test, by the name of a lane that touches the kernel. */
  const kernelLane = (name: string, body: string, more: Partial<Lane> = {}): Lane => {
    const imports = 'import { appendFileSync, readFileSync, writeFileSync } from "node:fs";';
    writeFileSync(`${folder}/${name}.test.mjs`, `${imports}\nit("does it", () => { ${body} });\n`);
    return lane(name, "", { work: { kind: "tests", files: `${folder}/${name}.test.mjs` }, ...more });
  };

  const log = () => readFileSync(`${folder}/log`, "utf8").trim().split("\n");
  const step = (name: string) => `echo ${name} begins >>${folder}/log; sleep 0.1; echo ${name} ends >>${folder}/log`;

  it("runs those that need one processor beside each other", async function () {
    this.timeout(120_000);
    execFileSync("mkfifo", [`${folder}/fifo`]);
    const waits = lane("waits", `exec cat ${folder}/fifo`, { processors: "one" });
    const goes = lane("goes", `echo go >${folder}/fifo`, { processors: "one" });
    const { results, seconds } = await runLanes([waits, goes], process.env);
    expect(results.map(({ lane: name, outcome, reason = "" }) => `${name} ${outcome} ${reason}`.trim())).to.deep.equal([
      "waits passed",
      "goes passed",
    ]);
    expect([...seconds.keys()]).to.deep.equal(["waits", "goes"]);
    expect(readFileSync(join(root, "dist/output-waits.txt"), "utf8")).to.equal("go\n");
    for (const name of ["waits", "goes"]) rmSync(join(root, `dist/output-${name}.txt`));
  });

  it("runs commands that make tools alone, and after what needs only processors", async function () {
    this.timeout(120_000);
    const ran = [lane("a", step("a")), lane("b", step("b")), lane("all", step("all"), { processors: "all" })];
    await runLanes(ran, process.env);
    const expected = ["all begins", "all ends", "a begins", "a ends", "b begins", "b ends"];
    expect(log()).to.deep.equal(expected);
  });

  it("runs tests that touch the kernel beside each other, after the tools, and then what runs alone", async function () {
    this.timeout(120_000);
    execFileSync("mkfifo", [`${folder}/fifo`]);
    const ran = [
      kernelLane("cluster", `appendFileSync("${folder}/log", "alone\\n");`, { alone: true }),
      kernelLane("real", `readFileSync("${folder}/fifo"); appendFileSync("${folder}/log", "waited\\n");`),
      kernelLane("contract", `writeFileSync("${folder}/fifo", "go");`),
      lane("tools", step("tools")),
    ];
    const { results } = await runLanes(ran, { ...process.env, [grepVariable]: "", [wantedVariable]: "" });
    expect(results.map(({ lane: name, outcome }) => `${name} ${outcome}`)).to.deep.equal([
      "cluster passed",
      "real passed",
      "contract passed",
      "tools passed",
    ]);
    expect(log()).to.deep.equal(["tools begins", "tools ends", "waited", "alone"]);
    for (const name of ["real", "contract"]) rmSync(join(root, `dist/output-${name}.txt`));
  });

  slow("finds what lanes beside each other leave behind, as a failure of the first", async function () {
    this.timeout(120_000);
    const left = `/var/tmp/nvo-left-${randomUUID()}`;
    const ran = [kernelLane("real", ""), kernelLane("contract", `writeFileSync("${left}", "");`)];
    const outer = process.env[runVariable];
    delete process.env[runVariable]; // as if it were the run of nobody's lane
    try {
      const { results } = await runLanes(ran, { ...process.env, [grepVariable]: "", [wantedVariable]: "" });
      const said = results.map(({ lane: name, outcome, reason = "" }) => `${name} ${outcome} ${reason}`.trim());
      expect(said).to.include.members(["real passed", `real failed ${left}`, "contract passed"]);
    } finally {
      if (outer !== undefined) process.env[runVariable] = outer;
      rmSync(left, { force: true });
    }
    for (const name of ["real", "contract"]) rmSync(join(root, `dist/output-${name}.txt`));
  });

  describe("with a second try", () => {
    /** A lane of one file, by the name of a lane whose tests are none of this run's. */
    async function tryTwice(body: string) {
      writeFileSync(`${folder}/once.test.mjs`, `import { existsSync, writeFileSync } from "node:fs";\n${body}\n`);
      const ran = lane("page", "", {
        work: { kind: "tests", files: `${folder}/*.test.mjs` },
        secondTry: true,
      });
      const env = { ...process.env, [grepVariable]: "", [wantedVariable]: "" };
      const { results: first } = await runLanes([ran], env);
      const tried = toTryAgain(first, [ran], undefined);
      const { results, flaky } = verdictOf(first, tried, await runSecondTry(tried, env), undefined);
      const said = (found: readonly TestResult[]) =>
        found.map(({ title, outcome, reason = "" }) => `${title} ${outcome} ${reason.split(" (")[0]}`.trim());
      return { first: said(first), results: said(results), flaky: flaky.map(({ title }) => title) };
    }

    it("runs what failed again, and nothing else of its file", async function () {
      this.timeout(120_000);
      const marker = JSON.stringify(`${folder}/marker`);
      const { first, results, flaky } = await tryTwice(`it("fails once", () => {
  if (existsSync(${marker})) return;
  writeFileSync(${marker}, "");
  throw new Error("not yet");
});
it("passes once", () => { if (existsSync(${marker} + "2")) throw new Error("again"); writeFileSync(${marker} + "2", ""); });`);
      expect(first).to.deep.equal(["fails once failed not yet", "passes once passed"]);
      expect(results).to.deep.equal(["fails once passed", "passes once passed"]);
      expect(flaky).to.deep.equal(["fails once"]);
    });

    it("stays red if it fails again", async function () {
      this.timeout(120_000);
      const { results, flaky } = await tryTwice(`it("fails", () => { throw new Error("no"); });`);
      expect(results).to.deep.equal(["fails failed no"]);
      expect(flaky).to.deep.equal([]);
    });
  });

  it("stretches what a test says of its own limit by how slow the machine is", async function () {
    this.timeout(120_000);
    writeFileSync(
      `${folder}/limit.test.mjs`,
      `it("says", function () { this.timeout(1_000); if (this.timeout() !== 3_000) throw new Error(String(this.timeout())); });`,
    );
    const ran = lane("page", "", { work: { kind: "tests", files: `${folder}/*.test.mjs` } });
    const { results } = await runLanes([ran], { ...process.env, [grepVariable]: "", [slownessVariable]: "3" });
    expect(results.map(({ title, outcome, reason }) => [title, outcome, reason])).to.deep.equal([
      ["says", "passed", undefined],
    ]);
  });

  it("goes on when what a lane runs kills all of its process group", async function () {
    this.timeout(120_000);
    const { results } = await runLanes([lane("kills", "kill -9 0")], process.env);
    expect(results.map(({ outcome, reason }) => [outcome, reason])).to.deep.equal([["failed", "exited with 137"]]);
  });

  it("skips, by name, the lane of another architecture where that cannot be emulated", async () => {
    const env = { ...process.env, XDG_CACHE_HOME: `${folder}/cache`, PATH: "/nonexistent" };
    const work = { kind: "tests", files: "test/unit/errors.test.ts", arm64: true } as const;
    const { results } = await runLanes([lane("emulated", "", { work, processors: "one" })], env);
    expect(results.map(({ title, outcome }) => [title, outcome])).to.deep.equal([["the lane", "skipped"]]);
    expect(results[0]?.reason).to.match(/^needs /);
  });

  it("gives one that is alone the terminal, and says that it failed", async function () {
    this.timeout(120_000);
    const { results } = await runLanes([lane("fails", "exit 3", { processors: "one" })], process.env);
    expect(results.map(({ outcome, reason }) => [outcome, reason])).to.deep.equal([["failed", "exited with 3"]]);
  });
});
