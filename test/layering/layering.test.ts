import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { root } from "../../hack/lib/root.ts";
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
      ["src/agent/model/volume-plan.ts", '/** Pure. */\nimport { readFileSync } from "node:fs";', "says that it is pure"],
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
