import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { root } from "../../hack/lib/root.ts";
import { unknownFolder, upwardImports } from "./folders.ts";
import { circles, hackViolations, textViolations, violations } from "./rules.ts";

/** Paths of the machines that this is developed on, put together so that this file does not name them itself. */
const machinePath = new RegExp(
  ["(?<![\\w}>])(/wor", "k/(main|shared|\\.library)\\b|/roo", "t/|/tmp/(cp|e|brief)\\b)"].join(""),
);

function filesOf(...folders: string[]): string[] {
  const args = ["ls-files", "--cached", "--others", "--exclude-standard", "--", ...folders];
  const listed = execFileSync("git", args, { cwd: root, encoding: "utf8" }).trim().split("\n");
  return listed.filter((path) => path !== "" && existsSync(join(root, path)));
}

/** Unlike chai's comparison, names each. */
function expectNone(found: readonly string[]): void {
  if (found.length > 0) throw new Error(`${found.length} found:\n${found.join("\n")}`);
}

const read = (path: string) => readFileSync(join(root, path), "utf8");

describe("layering", () => {
  it("src keeps the import law, and effects stay in their files", () => {
    const files = filesOf("src").filter((path) => path.endsWith(".ts"));
    expect(files.length).to.be.greaterThan(10);
    expectNone(files.flatMap((path) => violations(path, read(path))));
  });

  /**
   * In the simulated kernel as in Linux: a name, its file system, the mounts and the disk of it, each with the others.
   */
  const kernelObjects = ["dentry", "disk", "mount", "superblock"].map((name) => `test/sim/kernel/${name}.ts`);

  it("no files import each other in a circle, counted with types, but for the objects of the simulated kernel", () => {
    const files = filesOf("src", "hack", "test").filter((path) => path.endsWith(".ts"));
    expect(files.length).to.be.greaterThan(10);
    const found = circles(new Map(files.map((path) => [path, read(path)])));
    expectNone(found.filter(({ files }) => files.join() !== kernelObjects.join()).map(({ text }) => text));
  });

  it("folders of agent, controller and host import only folders of lines above their own", () => {
    const files = filesOf("src").filter((path) => path.endsWith(".ts"));
    expect(files.length).to.be.greaterThan(10);
    expectNone(files.flatMap((path) => upwardImports(path, read(path))));
    expectNone(files.flatMap((path) => unknownFolder(path) ?? []));
  });

  it("hack imports nothing of test: what both need is in hack/lib", () => {
    const files = filesOf("hack").filter((path) => path.endsWith(".ts"));
    expect(files.length).to.be.greaterThan(10);
    expectNone(files.flatMap((path) => hackViolations(path, read(path))));
  });

  it("no file is too long, names a path of one machine, or has .only", () => {
    const texts = filesOf().filter((path) => !/^package-lock\.json$|go\.sum$|\.(png|svg|ico)$/.test(path));
    expectNone(texts.flatMap((path) => textViolations(path, read(path), machinePath)));
  });

  describe("rules", () => {
    const caught: readonly [string, string, string][] = [
      ["src/controller/x.ts", 'import { a } from "../agent/a.ts";', "controller may not import agent"],
      ["src/agent/x.ts", 'import type { A } from "../controller/a.ts";', "agent may not import controller"],
      ["src/kube/x.ts", 'export { a } from "../host/a.ts";', "kube may not import host"],
      ["src/host/x.ts", 'import { a } from "../plugins/a.ts";', "host may not import plugins"],
      ["src/api/x.ts", 'import { a } from "../kube/a.ts";', "base may not import kube"],
      ["src/plugins/x.ts", 'await import("../agent/a.ts");', "plugins may not import agent"],
      ["src/csi/x.ts", 'import { a } from "../agent/a.ts";', "csi may not import agent"],
      ["src/csi/x.ts", 'import { a } from "../kube/a.ts";', "csi may not import kube"],
      ["src/host/x.ts", 'import { a } from "../csi/a.ts";', "host may not import csi"],
      ["src/cli/x.ts", 'import { a } from "../controller/a.ts";', "cli may not import controller"],
      ["src/cli/x.ts", 'import { a } from "../host/a.ts";', "cli may not import host"],
      ["src/cli/x.ts", 'import { readFileSync } from "node:fs";', "touches the machine"],
      ["src/cli/x.ts", 'import { KubeConfig } from "@kubernetes/client-node";', "@kubernetes/client-node"],
      ["src/agent/deep/x.ts", 'import { a } from "../../../hack/a.ts";', "outside of src"],
      ["src/newroom/x.ts", 'import { a } from "../kube/a.ts";', "unknown may not import kube"],
      ["src/agent/x.ts", 'import { realSystem } from "../system.ts";', "agent may not import wiring"],
      ["src/agent/x.ts", "const t = Date.now();", "Date.now"],
      ["src/agent/x.ts", "const t = new Date();", "new Date()"],
      ["src/agent/x.ts", "setTimeout(f, 1);", "setTimeout"],
      ["src/agent/x.ts", "const later = setTimeout;", "setTimeout"],
      ["src/agent/x.ts", "Math.random();", "Math.random"],
      ["src/agent/x.ts", "process.env.HOME;", "process.env"],
      ["src/agent/run.ts", "process.exit(1);", "process.exit"],
      ["src/controller/start.ts", 'import Op from "@dot-i/k8s-operator";', "@dot-i/k8s-operator"],
      ["src/agent/x.ts", 'import type { V1Node } from "@kubernetes/client-node";', "@kubernetes/client-node"],
      [
        "src/agent/model/volume-plan.ts",
        '/** Pure. */\nimport { readFileSync } from "node:fs";',
        "says that it is pure",
      ],
      [
        "src/host/x.ts",
        'import koffi from "koffi";\n/** PURE. What it says. */\nfunction f() {}',
        "says that it is pure",
      ],
      [
        "src/host/x.ts",
        'import { hash } from "node:crypto";\n/** A text. Pure. */\nfunction f() {}',
        "says that it is pure",
      ],
      ["src/agent/x.ts", 'import { lstatSync } from "node:fs";', "touches the machine"],
      ["src/controller/x.ts", 'await import("node:fs/promises");', "touches the machine"],
      ["src/plugins/x.ts", 'import koffi from "koffi";', "touches the machine"],
      ["src/host/linux/x.ts", "const O_CLOEXEC = 0o2000000;", "a number of the kernel's interface"],
    ];
    for (const [path, text, message] of caught) {
      it(`catch ${JSON.stringify(text)} in ${path}`, () => {
        expect(violations(path, text).join("\n")).to.include(message);
      });
    }

    const upwards: readonly [string, string, string][] = [
      ["src/agent/model/x.ts", 'import type { A } from "../desired/a.ts";', "src/agent/model may not import desired"],
      [
        "src/agent/content/x.ts",
        'import { a } from "../model/a.ts";\nimport { b } from "../actual/b.ts";',
        "content may not import actual",
      ],
      [
        "src/agent/actual/x.ts",
        'import { a } from "../executor/csi/a.ts";',
        "src/agent/actual may not import executor",
      ],
      ["src/agent/planner/x.ts", 'import { a } from "../executor/a.ts";', "src/agent/planner may not import executor"],
      [
        "src/agent/planner/deep/x.ts",
        'import { a } from "../../journal/a.ts";',
        "src/agent/planner may not import journal",
      ],
      ["src/agent/executor/x.ts", 'import { a } from "../status/a.ts";', "src/agent/executor may not import status"],
      ["src/agent/status/x.ts", 'import { a } from "../pods/a.ts";', "src/agent/status may not import pods"],
      ["src/agent/metrics/x.ts", 'import { a } from "../loop.ts";', "src/agent/metrics may not import ."],
      ["src/controller/util/x.ts", 'import { a } from "../model/a.ts";', "src/controller/util may not import model"],
      [
        "src/controller/cache/x.ts",
        'import { a } from "../claims/a.ts";',
        "src/controller/cache may not import claims",
      ],
      [
        "src/controller/attach/x.ts",
        'import { a } from "../intents/a.ts";',
        "src/controller/attach may not import intents",
      ],
      ["src/controller/intents/x.ts", 'import { a } from "../reconcilers/a.ts";', "intents may not import reconcilers"],
      ["src/controller/reconcilers/x.ts", 'import { a } from "../queues/a.ts";', "reconcilers may not import queues"],
      [
        "src/host/linux/syscall/x.ts",
        'import { a } from "../child/a.ts";',
        "src/host/linux/syscall may not import child",
      ],
      ["src/host/linux/path/x.ts", 'export { a } from "../mount/a.ts";', "src/host/linux/path may not import mount"],
      ["src/host/linux/mount/x.ts", 'await import("../files/a.ts");', "src/host/linux/mount may not import files"],
      ["src/host/linux/scsi/x.ts", 'import { a } from "../child-main.ts";', "src/host/linux/scsi may not import ."],
      [
        "src/host/mount-table/x.ts",
        'import type { A } from "../ports/a.ts";',
        "src/host/mount-table may not import ports",
      ],
      ["src/host/ports/x.ts", 'import { a } from "../linux/syscall/a.ts";', "src/host/ports may not import linux"],
      [
        "src/agent/loop.ts",
        'import type { A } from "./planner/incremental/plan-dependencies.ts";',
        "src/agent/planner/incremental is entered by incremental-planner.ts alone",
      ],
    ];
    for (const [path, text, message] of upwards) {
      it(`catch ${JSON.stringify(text)} in ${path}`, () => {
        expect(upwardImports(path, text).join("\n")).to.include(message);
      });
    }

    it("allow what lies flat to import any folder, and a folder those above it", () => {
      const flat = 'import { a } from "./metrics/a.ts";\nimport { b } from "./model/b.ts";';
      expect(upwardImports("src/agent/start.ts", flat)).to.deep.equal([]);
      const above = 'import { a } from "../actual/a.ts";\nimport { b } from "./incremental/incremental-planner.ts";';
      expect(upwardImports("src/agent/planner/x.ts", above)).to.deep.equal([]);
    });

    it("catch a folder that is on no line", () => {
      expect(unknownFolder("src/agent/heap/x.ts")).to.include("heap is on no line of src/agent");
      expect(unknownFolder("src/agent/model/x.ts")).to.equal(undefined);
    });

    for (const text of [
      'import { a } from "../../test/lib/a.ts";',
      'export type { A } from "../../test/lib/a.ts";',
      'await import("../../test/lib/a.ts");',
      'fork(fileURLToPath(new URL("../../test/lib/a.ts", import.meta.url)));',
    ]) {
      it(`catch ${JSON.stringify(text)} in hack`, () => {
        expect(hackViolations("hack/bench/x.ts", text)).to.deep.equal([
          "hack/bench/x.ts: hack may not import test/lib/a.ts",
        ]);
      });
    }

    it("catch circles of imports, each with all of its files", () => {
      const texts = new Map([
        ["src/agent/start.ts", 'import { a } from "./a.ts";\nimport { d } from "../host/d.ts";'],
        ["src/agent/a.ts", 'import type { B } from "./deep/b.ts";'],
        ["src/agent/deep/b.ts", 'export type { C } from "./c.ts";\nimport { d } from "../../host/d.ts";'],
        ["src/agent/deep/c.ts", 'await import("../a.ts");\nimport type { B } from "./b.ts";'],
        ["src/host/d.ts", 'import { type E } from "./e.ts";'],
        ["src/host/e.ts", 'import type { D } from "./d.ts";'],
      ]);
      expect(circles(texts).map(({ text }) => text)).to.have.members([
        "circle of 3 files:\n  src/agent/a.ts imports src/agent/deep/b.ts\n  src/agent/deep/b.ts imports src/agent/deep/c.ts\n  src/agent/deep/c.ts imports src/agent/a.ts, src/agent/deep/b.ts",
        "circle of 2 files:\n  src/host/d.ts imports src/host/e.ts\n  src/host/e.ts imports src/host/d.ts",
      ]);
    });

    it("allow two ways to one file, and what only a comment imports", () => {
      const texts = new Map([
        ["src/agent/a.ts", 'import { b } from "./b.ts";\nimport type { C } from "./c.ts";'],
        ["src/agent/b.ts", 'import { c } from "./c.ts";'],
        ["src/agent/c.ts", '// import { a } from "./a.ts";\nimport { x } from "./not-here.ts";'],
      ]);
      expect(circles(texts)).to.deep.equal([]);
    });

    it("allow hack and src in hack", () => {
      const text =
        'import { a } from "../lib/a.ts";\nimport { b } from "../../src/b.ts";\nconst of = "../../test/lib";';
      expect(hackViolations("hack/bench/x.ts", text)).to.deep.equal([]);
    });

    const allowed: readonly [string, string][] = [
      ["src/agent/x.ts", 'import { a } from "../host/a.ts";\nimport { b } from "../kube/b.ts";'],
      ["src/main.ts", 'await import("./agent/run.ts");\nprocess.exit(1);'],
      ["src/agent/x.ts", "new Date(now).toISOString();"],
      ["src/agent/x.ts", "// Date.now() would be the real clock\nclock.now();"],
      ["src/system.ts", "Date.now();"],
      [
        "src/host/linux/x.ts",
        '/** Not pure at all. */\nimport { lstatSync } from "node:fs";\nimport koffi from "koffi";',
      ],
      ["src/agent/run.ts", 'import { readlinkSync } from "node:fs";'],
      ["src/cli/access.ts", 'import { KubeConfig } from "@kubernetes/client-node";\nimport { a } from "../kube/a.ts";'],
      ["src/agent/run.ts", 'import { realSystem } from "../system.ts";'],
    ];
    for (const [path, text] of allowed) {
      it(`allow ${JSON.stringify(text)} in ${path}`, () => {
        expect(violations(path, text)).to.deep.equal([]);
      });
    }
  });
});
