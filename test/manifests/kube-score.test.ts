import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect } from "chai";
import { root } from "../../hack/lib/root.ts";
import { locateTool } from "../../hack/lib/tools/locate.ts";

const run = promisify(execFile);
const section = "## What kube-score has against them";

/** What is asked of an object of kube-score's report. */
interface Scored {
  readonly object_meta: { readonly name: string };
  readonly checks: readonly {
    readonly check: { readonly id: string };
    readonly grade: number;
    readonly skipped: boolean;
  }[];
}

/** The grade of a check that has nothing against an object. */
const allWell = 10;

describe("kube-score", () => {
  let report: Scored[];
  before(async function () {
    this.timeout(20 * 60_000); // it may have to be built, once
    const options = { env: process.env, report: (line: string) => console.log(`  ${line}`) };
    const kubectl = await locateTool("kubectl", options);
    const kubeScore = await locateTool("kube-score", options);
    const { stdout: yaml } = await run(kubectl, ["kustomize", join(root, "config/default")], { maxBuffer: 2 ** 26 });
    const more = ["--enable-optional-test", "container-seccomp-profile"];
    const scoring = run(kubeScore, ["score", "--kubernetes-version=v1.36", "--output-format=json", ...more, "-"], {
      maxBuffer: 2 ** 26,
    });
    scoring.child.stdin?.end(yaml);
    // It exits with 1 where it has found anything.
    const { stdout } = await scoring.catch((error: { stdout: string }) => error);
    report = JSON.parse(stdout) as Scored[];
  });

  it("has looked at both workloads", () => {
    const names = report.map(({ object_meta: { name } }) => name);
    expect(names).to.include.members(["nodevolume-agent", "nodevolume-controller"]);
  });

  it("has nothing against config/default but what docs/security.md gives a reason for", () => {
    const found = report.flatMap(({ object_meta: { name }, checks }) =>
      checks.filter(({ grade, skipped }) => grade < allWell && !skipped).map(({ check }) => `${check.id} of ${name}`),
    );
    expect(explained().sort()).to.deep.equal(found.sort());
  });
});

/** Of each row of the table: the check and the workload. */
function explained(): string[] {
  const text = readFileSync(join(root, "docs/security.md"), "utf8").split(`${section}\n`)[1]?.split("\n## ")[0] ?? "";
  return [...text.matchAll(/^\| ([a-z-]+) \| (nodevolume-[a-z-]+) \| \S.* \|$/gm)].map(
    ([, id, of]) => `${id} of ${of}`,
  );
}
