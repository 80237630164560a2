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

  const log = () => readFileSync(`${folder}/log`, "utf8").trim().split("\n");
  const step = (name: string) => `echo ${name} begins >>${folder}/log; sleep 0.1; echo ${name} ends >>${folder}/log`;
  // What others on the machine make meanwhile, as loop devices, cannot be told from what a lane has left from in here.
  const isOwn = ({ title }: { readonly title: string }) => title !== "nothing is left behind";

  it("runs those that need one processor beside each other", async function () {
    this.timeout(120_000);
    execFileSync("mkfifo", [`${folder}/fifo`]);
    const waits = lane("waits", `exec cat ${folder}/fifo`, { processors: "one" });
    const goes = lane("goes", `echo go >${folder}/fifo`, { processors: "one" });
    const { results, seconds } = await runLanes([waits, goes], process.env);
    const own = results.filter(isOwn);
    expect(own.map(({ lane: name, outcome, reason = "" }) => `${name} ${outcome} ${reason}`.trim())).to.deep.equal([
      "waits passed",
      "goes passed",
    ]);
    expect([...seconds.keys()]).to.deep.equal(["waits", "goes"]);
    expect(readFileSync(join(root, "dist/output-waits.txt"), "utf8")).to.equal("go\n");
    for (const name of ["waits", "goes"]) rmSync(join(root, `dist/output-${name}.txt`));
  });

  it("runs what touches the kernel alone, and after what needs only processors", async function () {
    this.timeout(120_000);
    const ran = [lane("a", step("a")), lane("b", step("b")), lane("all", step("all"), { processors: "all" })];
    await runLanes(ran, process.env);
    const expected = ["all begins", "all ends", "a begins", "a ends", "b begins", "b ends"];
    expect(log()).to.deep.equal(expected);
  });

  it("gives one that is alone the terminal, and says that it failed", async function () {
    this.timeout(120_000);
    const { results } = await runLanes([lane("fails", "exit 3", { processors: "one" })], process.env);
    const own = results.filter(isOwn);
    expect(own.map(({ outcome, reason }) => [outcome, reason])).to.deep.equal([["failed", "exited with 3"]]);
  });
});
