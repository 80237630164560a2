import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { getPriority } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import type { Lane } from "../../../hack/lib/lanes/lanes.ts";
import { runLanes } from "../../../hack/lib/lanes/run-lanes.ts";
import { root } from "../../../hack/lib/root.ts";

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

  it("runs one that needs only processors beside those after it, on what they leave", async function () {
    this.timeout(120_000);
    execFileSync("mkfifo", [`${folder}/fifo`]);
    const behind = lane("behind", `nice >${folder}/nice; exec cat ${folder}/fifo`, { beside: "processors" });
    const { results, seconds } = await runLanes([behind, lane("ahead", `echo go >${folder}/fifo`)], process.env);
    // What others on the machine make meanwhile, as loop devices, cannot be told from what a lane has left from in here.
    const own = results.filter(({ title }) => title !== "nothing is left behind");
    expect(own.map(({ lane: name, outcome, reason = "" }) => `${name} ${outcome} ${reason}`.trim())).to.deep.equal([
      "behind passed",
      "ahead passed",
    ]);
    expect([...seconds.keys()]).to.deep.equal(["behind", "ahead"]);
    expect(readFileSync(`${folder}/nice`, "utf8").trim()).to.equal("19");
    expect(readFileSync(join(root, "dist/output-behind.txt"), "utf8")).to.equal("go\n");
    rmSync(join(root, "dist/output-behind.txt"));
  });

  it("runs those beside one after another", async function () {
    this.timeout(120_000);
    const log = `${folder}/log`;
    const step = (name: string) => `echo ${name} begins >>${log}; sleep 0.1; echo ${name} ends >>${log}`;
    const ahead = lane("ahead", "exit 0");
    await runLanes(
      [lane("a", step("a"), { beside: "processors" }), lane("b", step("b"), { beside: "processors" }), ahead],
      process.env,
    );
    expect(readFileSync(log, "utf8").trim().split("\n")).to.deep.equal(["a begins", "a ends", "b begins", "b ends"]);
    for (const name of ["a", "b"]) rmSync(join(root, `dist/output-${name}.txt`));
  });

  it("runs one that waits beside those, as if nobody else were there", async function () {
    this.timeout(120_000);
    execFileSync("mkfifo", [`${folder}/fifo`]);
    const behind = lane("behind", `cat ${folder}/fifo`, { beside: "processors" });
    const waits = lane("waits", `nice >${folder}/nice; echo go >${folder}/fifo`, { beside: "waits" });
    await runLanes([behind, waits, lane("ahead", "exit 0")], process.env);
    expect(Number(readFileSync(`${folder}/nice`, "utf8"))).to.equal(getPriority());
    expect(readFileSync(join(root, "dist/output-behind.txt"), "utf8")).to.equal("go\n");
    for (const name of ["behind", "waits"]) rmSync(join(root, `dist/output-${name}.txt`));
  });

  it("gives the last one the terminal, and says which one failed", async function () {
    this.timeout(120_000);
    const { results } = await runLanes([lane("fails", "exit 3", { beside: "processors" })], process.env);
    expect(results.map(({ outcome, reason }) => [outcome, reason])).to.deep.equal([["failed", "exited with 3"]]);
  });
});
