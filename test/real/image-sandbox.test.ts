import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect } from "chai";
import { need } from "../lib/asserts/requirements.ts";
import type { Intruded } from "../lib/kernel/programs/image-sandbox-main.ts";
import { RealNode } from "../lib/kernel/real-node.ts";

const main = fileURLToPath(new URL("../lib/kernel/programs/image-sandbox-main.ts", import.meta.url));

describe("somebody who runs code in the child that unpacks an image, on the real kernel", function () {
  this.timeout(60_000); // on machines that have others at work
  let node: RealNode;

  before(function () {
    need(this, "root");
  });
  beforeEach(() => {
    node = new RealNode();
  });
  afterEach(() => node[Symbol.asyncDispose]());

  it("reads and writes no file of the node, and none of its kernel or its disks", () => {
    const [directory, layout, canary] = ["own", "layout", "canary"].map((name) => `${node.path}/src/${name}`) as [
      string,
      string,
      string,
    ];
    mkdirSync(directory);
    mkdirSync(layout);
    writeFileSync(`${layout}/index.json`, "of the layout");
    writeFileSync(canary, "kept", { mode: 0o600 });
    const kernel = [
      "/proc/sys/kernel/core_pattern",
      "/proc/sysrq-trigger",
      "/sys/kernel/mm/transparent_hugepage/enabled",
    ];
    const ofOthers = [`/proc/${process.pid}/root${canary}`, `/proc/1/root${canary}`, `/proc/${process.pid}/mem`];
    const gone = [canary, ...kernel, ...ofOthers, "/etc/shadow", "/dev/sda", "/dev/mem"];
    const readOnly = ["/usr/bin/env", "/proc/self/oom_score_adj", `/node${layout}/index.json`];
    const args = [main, directory, layout, ...gone, ...readOnly];
    const intruded = JSON.parse(execFileSync(process.execPath, args, { encoding: "utf8" })) as Intruded;
    for (const path of gone) {
      const { make, ...others } = intruded.paths[path] ?? {};
      expect(others, path).to.deep.equal({ read: "ENOENT", write: "ENOENT", chmod: "ENOENT", chown: "ENOENT" });
      expect(make, path).to.be.oneOf(["ENOENT", "EROFS"]);
    }
    for (const path of readOnly) {
      const { make, ...others } = intruded.paths[path] ?? {};
      expect(others, path).to.deep.equal({ read: "succeeded", write: "EROFS", chmod: "EROFS", chown: "EROFS" });
      expect(make, path).to.be.oneOf(["EROFS", "ENOENT"]);
    }
    expect(intruded.processes).to.deep.equal(["self"]);
    const absent = ["sys", "home", "root", "var"].filter((folder) => !main.startsWith(`/${folder}/`));
    for (const folder of absent) expect(intruded.root).to.not.include(folder);
    expect(intruded.heapMiB, "what Node may take, without the container's limit in sight").to.be.lessThan(400);
    expect(intruded.program, "it has run, and written nothing").to.match(/^ran, [12]$/);
    expect(intruded.layout).to.equal("of the layout");
    expect(statSync(`${directory}/new`).isDirectory(), "its own directory").to.equal(true);
    expect(readFileSync(canary, "utf8")).to.equal("kept");
    expect(statSync(canary)).to.include({ mode: 0o100600, uid: 0 });
  });
});
