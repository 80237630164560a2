import { execFileSync } from "node:child_process";
import { cpSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { root } from "../../../hack/lib/root.ts";

describe("docs/release.md, the command that pins actions", function () {
  this.timeout(60_000); // some forty processes
  const directory = mkdtempSync(join(tmpdir(), "nodevolume-actions-"));
  const checkout = join(directory, "checkout");
  const page = readFileSync(join(root, "docs/release.md"), "utf8");
  const [, command = ""] = /### Pin the actions\n[\s\S]*?```sh\n([\s\S]*?)```/.exec(page) ?? [];
  const usesIn = (folder: string) =>
    globSync(join(folder, ".github/workflows/*.yaml"))
      .sort()
      .flatMap((file) => readFileSync(file, "utf8").match(/(?<=- uses: ).*/g) ?? []);
  const env = {
    ...{ PATH: process.env["PATH"], HOME: directory, GIT_CONFIG_NOSYSTEM: "1", GIT_CONFIG_COUNT: "1" },
    ...{ GIT_CONFIG_KEY_0: `url.${directory}/.insteadOf`, GIT_CONFIG_VALUE_0: "https://github.com/" },
  };
  const git = (at: string, ...args: string[]) =>
    execFileSync("git", ["-C", at, "-c", "user.name=n", "-c", "user.email=n@example.com", ...args], {
      encoding: "utf8",
      env,
    }).trim();

  before(() => cpSync(join(root, ".github"), join(checkout, ".github"), { recursive: true }));
  after(() => rmSync(directory, { recursive: true }));

  it("names of each action the commit of its tag, annotated or not, and its version behind it", () => {
    const before = usesIn(checkout);
    const commits = new Map<string, string>();
    for (const [at, use] of [...new Set(before)].entries()) {
      const [action = "", tag = ""] = use.split("@");
      const place = join(directory, action);
      mkdirSync(place, { recursive: true });
      if (!commits.has(action)) git(place, "init", "--quiet");
      git(place, "commit", "--quiet", "--allow-empty", "--message", use);
      git(place, "tag", ...(at % 2 === 0 ? ["--annotate", "--message", tag] : []), tag);
      commits.set(action, git(place, "rev-parse", "HEAD"));
    }
    const said = execFileSync("sh", ["-c", command], { cwd: checkout, encoding: "utf8", env });
    expect(said).to.equal("");
    expect(before.length).to.be.greaterThan(10);
    expect(usesIn(checkout)).to.deep.equal(
      before.map((use) => use.replace(/^(.*)@(.*)$/, (_, action, tag) => `${action}@${commits.get(action)} # ${tag}`)),
    );
  });
});
