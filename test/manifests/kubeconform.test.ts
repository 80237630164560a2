import { execFile } from "node:child_process";
import { globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { expect } from "chai";
import { slowSuite } from "../../hack/lib/lanes/slow.ts";
import { root } from "../../hack/lib/root.ts";
import { locateTool } from "../../hack/lib/tools/locate.ts";
import { crdSchemas } from "../../hack/release/json-schemas.ts";

const run = promisify(execFile);

interface Report {
  readonly resources: readonly { readonly name: string; readonly status: string; readonly msg: string }[];
  readonly summary: {
    readonly valid: number;
    readonly invalid: number;
    readonly errors: number;
    readonly skipped: number;
  };
}

slowSuite("kubeconform, with the schemas of a release", () => {
  let kubeconform = "";
  let directory = "";
  before(async function () {
    this.timeout(20 * 60_000); // it may have to be built, once
    kubeconform = await locateTool("kubeconform", { env: process.env, report: (line) => console.log(`  ${line}`) });
    directory = mkdtempSync(join(tmpdir(), "nodevolume-schemas-"));
    for (const [path, { content }] of crdSchemas()) {
      mkdirSync(join(directory, dirname(path)), { recursive: true });
      writeFileSync(join(directory, path), content);
    }
  });
  after(() => directory !== "" && rmSync(directory, { recursive: true }));

  /** As docs/release.md has it. Kubernetes' own kinds are left out: their schemas would be downloaded. */
  const conform = async (...files: string[]): Promise<Report> => {
    const location = `${directory}/{{.Group}}/{{.ResourceKind}}_{{.ResourceAPIVersion}}.json`;
    const args = ["-strict", "-output=json", "-verbose", "-summary", "-ignore-missing-schemas"];
    const running = run(kubeconform, [...args, "-schema-location", location, ...files], { maxBuffer: 2 ** 26 });
    // It exits with 1 where something is wrong.
    const { stdout } = await running.catch((error: { stdout: string }) => error);
    return JSON.parse(stdout) as Report;
  };

  it("takes every sample", async () => {
    const samples = globSync("config/samples/**/*.yaml", { cwd: root }).filter(
      (file) => !file.endsWith("kustomization.yaml"),
    );
    const { resources, summary } = await conform(...samples.map((file) => join(root, file)));
    expect(resources.filter(({ status }) => !["statusValid", "statusSkipped"].includes(status))).to.deep.equal([]);
    expect(summary.valid).to.be.at.least(samples.length);
  });

  it("refuses a sample with a misspelled field, and names it", async () => {
    const wrong = join(directory, "wrong.yaml");
    writeFileSync(wrong, readFileSync(join(root, "config/samples/nfs.yaml"), "utf8").replace("server:", "sevrer:"));
    const { resources, summary } = await conform(wrong);
    expect(summary.invalid).to.equal(1);
    expect(resources.map(({ msg }) => msg).join()).to.include("sevrer");
  });
});
