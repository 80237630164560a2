import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
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
    const behind = lane("behind", `nice >${folder}/nice; exec cat ${folder}/fifo`, { beside: true });
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

  it("gives the last one the terminal, and says which one failed", async function () {
    this.timeout(120_000);
    const { results } = await runLanes([lane("fails", "exit 3", { beside: true })], process.env);
    expect(results.map(({ outcome, reason }) => [outcome, reason])).to.deep.equal([["failed", "exited with 3"]]);
  });
});
