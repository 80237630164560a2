import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { expect } from "chai";
import { load } from "js-yaml";
import { slow } from "../../../hack/lib/lanes/slow.ts";
import { root } from "../../../hack/lib/root.ts";
import { locateTool } from "../../../hack/lib/tools/locate.ts";
import { commands } from "../../../src/cli/commands.ts";
import { flagsIn, nviCommands } from "../../lib/docs/words.ts";

interface Step {
  readonly name?: string;
  readonly uses?: string;
  readonly run?: string;
  readonly with?: { readonly [input: string]: unknown };
  readonly env?: { readonly [name: string]: string };
}

interface Job {
  readonly uses?: string;
  readonly needs?: string;
  readonly with?: { readonly [input: string]: unknown };
  readonly permissions?: { readonly [scope: string]: string };
  readonly steps?: readonly Step[];
}

interface Workflow {
  readonly permissions?: object;
  readonly jobs: { readonly [name: string]: Job };
}

interface IssueForm {
  readonly name: string;
  readonly description: string;
  readonly body: readonly { readonly type: string; readonly id?: string; readonly attributes: object }[];
}

const read = (file: string) => readFileSync(join(root, file), "utf8");
const workflows = globSync(".github/workflows/*.yaml", { cwd: root }).sort();

describe("workflows of .github", () => {
  const { scripts } = JSON.parse(read("package.json")) as { scripts: { [name: string]: string } };
  const jobsOf = (file: string) => Object.entries((load(read(file)) as Workflow).jobs);
  const stepsOf = (file: string) => jobsOf(file).flatMap(([, { steps = [] }]) => steps);

  /** What a script calls of ours that is not there. */
  function missingIn(script: string): string[] {
    const paths = script.match(/(?<![\w./-])(?:hack|\.ci|test|src)\/[\w./-]+/g) ?? [];
    const ran = [...script.matchAll(/\bnpm (?:run )?([\w:]+)/g)].flatMap(([, name]) => name ?? []);
    return [
      ...paths.filter((path) => !existsSync(join(root, path))),
      ...ran.filter((name) => scripts[name] === undefined).map((name) => `npm run ${name}`),
    ];
  }

  it("are those of tests and of a release", () => {
    expect(workflows).to.deep.equal([".github/workflows/release.yaml", ".github/workflows/test.yaml"]);
  });

  for (const file of workflows) {
    it(`${file} calls only what the repository has`, () => {
      expect(stepsOf(file).flatMap(({ run = "" }) => missingIn(run))).to.deep.equal([]);
      const local = jobsOf(file).flatMap(([, { uses }]) => uses ?? []);
      for (const path of local) expect(existsSync(join(root, path)), path).to.equal(true);
    });

    it(`${file} takes each action in one version`, () => {
      for (const { uses } of stepsOf(file))
        if (uses !== undefined) expect(uses).to.match(/^[\w-]+\/[\w-]+@(v\d+\.\d+\.\d+|[0-9a-f]{40})$/);
    });

    it(`${file} says what each job may do, and lets few write`, () => {
      const { permissions } = load(read(file)) as Workflow;
      expect(["{}", '{"contents":"read"}']).to.include(JSON.stringify(permissions));
      const writes = jobsOf(file).flatMap(([name, { permissions: own = {} }]) =>
        Object.entries(own).flatMap(([scope, may]) => (may === "write" ? `${name}: ${scope}` : [])),
      );
      const ofRelease = ["draft: contents", "draft: id-token", "images: id-token", "images: packages"];
      expect(writes.sort()).to.deep.equal(file.endsWith("release.yaml") ? ofRelease : []);
    });

    it(`${file} names no registry, and writes into no script what others may have written`, () => {
      expect(read(file)).not.to.match(/ghcr\.io|docker\.io|quay\.io|gcr\.io/);
      for (const { run = "" } of stepsOf(file)) expect(run).not.to.include("${{");
    });
  }

  it("hand to release.ts only flags that it has", () => {
    const script = read("hack/release/release.ts");
    const calls = stepsOf(".github/workflows/release.yaml").flatMap(
      ({ run = "" }) => (/release\.ts(.*)/s.exec(run) ?? [])[1] ?? [],
    );
    const flags = calls.flatMap((call) => call.match(/(?<= )--[a-z-]+/g) ?? []);
    expect(flags).to.include.members(["--image", "--with-node"]);
    for (const flag of flags) expect(script).to.match(new RegExp(`^  "?${flag.slice(2)}"?: `, "m"));
  });

  it("build a release only after all tests, which have the history that they need", () => {
    const { test, images } = Object.fromEntries(jobsOf(".github/workflows/release.yaml"));
    expect([test?.with, images?.needs]).to.deep.equal([{ all: true }, "test"]);
    const steps = stepsOf(".github/workflows/test.yaml");
    expect(steps.find(({ uses }) => uses?.startsWith("actions/checkout@"))?.with).to.include({ "fetch-depth": 0 });
    const { ARGUMENTS } = steps.find(({ run }) => run?.includes(".ci/run"))?.env ?? {};
    expect(ARGUMENTS).to.include("inputs.all && '--all' || inputs.arguments");
  });

  it("run nothing of npm where the checksums are signed", () => {
    const { draft } = Object.fromEntries(jobsOf(".github/workflows/release.yaml"));
    const used = draft?.steps?.flatMap(({ uses }) => uses?.split("@")[0] ?? []);
    expect(used).to.deep.equal(["actions/download-artifact", "sigstore/cosign-installer"]);
    for (const { run = "" } of draft?.steps ?? []) expect(run).not.to.match(/node|npm|npx|hack\//);
  });

  describe("before anything is pushed", () => {
    let directory = "";
    beforeEach(() => {
      directory = mkdtempSync(join(tmpdir(), "nodevolume-workflow-"));
      program("jq", "echo 1.2.3");
      program("cosign", "exit 0");
    });
    afterEach(() => rmSync(directory, { recursive: true }));

    const program = (name: string, script: string) =>
      writeFileSync(join(directory, name), `#!/bin/sh\n${script}\n`, { mode: 0o755 });

    /** What the step says whose name begins so, as GitHub's shell runs it; its exit code comes first. */
    function runStep(name: string, env: { readonly [name: string]: string }): string {
      const { run = "" } =
        stepsOf(".github/workflows/release.yaml").find((step) => step.name?.startsWith(name)) ?? expect.fail(name);
      const fixed = { PATH: `${directory}${delimiter}${process.env["PATH"]}`, RUNNER_TEMP: directory };
      const of = {
        GITHUB_REF_NAME: "v1.2.3",
        GITHUB_REPOSITORY: "Some/Repository",
        GITHUB_SHA: "1",
        REGISTRY: "r.test",
      };
      const all = { ...fixed, ...of, GITHUB_OUTPUT: join(directory, "output"), ...env };
      const { status, stdout, stderr } = spawnSync("bash", ["--norc", "-e", "-c", run], {
        cwd: root,
        env: all,
        encoding: "utf8",
      });
      return `${status} ${stdout}${stderr}`;
    }

    it("a release has a tag of its version, a registry, and who pushes there", () => {
      const check = (env: object) => runStep("Check the version", { HAS_PASSWORD: "true", TAKES_TOKEN: "", ...env });
      expect(check({})).to.equal("0 ");
      expect(check({ GITHUB_REF_NAME: "v1.2.4" })).to.match(/^1 .*the tag is v1\.2\.4, and package\.json has 1\.2\.3/);
      expect(check({ REGISTRY: "" })).to.match(/^1 .*REGISTRY of this repository is not set/);
      expect(check({ HAS_PASSWORD: "false" })).to.match(/^1 .*neither the secret REGISTRY_PASSWORD is set/);
      expect(check({ HAS_PASSWORD: "false", TAKES_TOKEN: "yes" })).to.match(/^1 /);
      expect(check({ HAS_PASSWORD: "false", TAKES_TOKEN: "true" })).to.equal("0 ");
    });

    it("no image of its version is there, not even the last one", () => {
      const build = () => runStep("Build, push and sign", {});
      const log = join(directory, "log");
      const docker = (there: string) =>
        program("docker", `echo "$*" >>${log}; case "$*" in *inspect*${there}) ;; *inspect*r.test*) exit 1 ;; esac`);
      docker("r.test/some/repository-agent:1.2.3");
      expect(build()).to.match(/^1 .*r\.test\/some\/repository-agent:1\.2\.3 is there already/);
      expect(readFileSync(log, "utf8")).not.to.include("buildx build");
      docker("r.test/some/repository-agent:1.2.2");
      expect(build()).to.match(/^0 /);
      expect(readFileSync(log, "utf8").match(/buildx build .*:1\.2\.3,push=true/g)).to.have.length(3);
    });
  });

  slow("have nothing against them by actionlint", async function () {
    this.timeout(10 * 60_000); // it may have to be built, once
    const actionlint = await locateTool("actionlint", { env: process.env, report: (line) => console.log(`  ${line}`) });
    // What is not of ours, and may be there or not, has no say.
    const lint = (text: string) => {
      try {
        return execFileSync(actionlint, ["-no-color", "-shellcheck=", "-pyflakes=", "-"], { input: text }).toString();
      } catch (error) {
        return String((error as { stdout: Buffer }).stdout);
      }
    };
    for (const file of workflows) expect(lint(read(file)), file).to.equal("");
    const wrong = read(".github/workflows/test.yaml").replace("runner.arch", "runner.architecture");
    expect(lint(wrong)).to.include('property "architecture" is not defined');
  });
});

describe("dependabot", () => {
  const { updates } = load(read(".github/dependabot.yml")) as {
    updates: { "package-ecosystem": string; directory?: string; directories?: string[] }[];
  };

  it("looks at every file that pins something", () => {
    const of = (name: string) => updates.filter((update) => update["package-ecosystem"] === name);
    expect(of("npm").map(({ directory }) => directory)).to.deep.equal(["/"]);
    expect(of("docker").map(({ directory }) => directory)).to.deep.equal(["/"]);
    expect(of("github-actions")).to.have.length(1);
    const patterns = of("gomod").flatMap(({ directories = [] }) => directories.map((one) => one.slice(1)));
    const seen = new Set(patterns.flatMap((pattern) => globSync(pattern, { cwd: root })));
    const pinned = globSync("hack/**/go.mod", { cwd: root }).map(dirname);
    expect(pinned.filter((folder) => !seen.has(folder))).to.deep.equal([]);
  });
});

describe("templates of issues", () => {
  const forms = globSync(".github/ISSUE_TEMPLATE/*.yml", { cwd: root }).filter((file) => !file.endsWith("config.yml"));

  it("are three forms, whose fields have ids of their own", () => {
    expect(forms.map((file) => file.split("/").at(-1)).sort()).to.deep.equal([
      "bug.yml",
      "feature.yml",
      "question.yml",
    ]);
    for (const file of forms) {
      const { name, description, body } = load(read(file)) as IssueForm;
      expect([name, description]).not.to.include(undefined);
      const ids = body.filter(({ type }) => type !== "markdown").map(({ id }) => id);
      expect(new Set(ids).size).to.equal(ids.length);
      for (const { type, attributes } of body)
        expect(attributes).to.have.property(type === "markdown" ? "value" : "label");
    }
  });

  it("ask for commands that there are, and a bug for the support bundle", () => {
    const known = new Map(commands.map(({ name, flags }) => [name, flags as readonly string[]]));
    const asked = forms.flatMap((file) => nviCommands(read(file)));
    for (const [name = "", ...words] of asked) {
      const flags = known.get(name) ?? expect.fail(`there is no ${name}`);
      for (const flag of flagsIn(words)) expect(flags).to.include(flag.slice(2));
    }
    expect(asked.map(([name]) => name)).to.include("explain");
    expect(read(".github/ISSUE_TEMPLATE/bug.yml")).to.include("`kubectl nvi support-bundle --node NODE`");
  });

  it("lead to files that are there", () => {
    const texts = globSync([".github/**/*.yml", ".github/*.md"], { cwd: root }).map(read).join("\n");
    for (const path of texts.match(/\b(?:docs\/[\w/-]+|SECURITY|CONTRIBUTING|CHANGELOG)\.md\b/g) ?? [])
      expect(existsSync(join(root, path)), path).to.equal(true);
  });
});
