// A repository of its own with what is in this one, in which a release can be made.
import { execFile, execFileSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { root } from "../../../hack/lib/root.ts";

const run = promisify(execFile);

const copied = [
  ...[
    "CHANGELOG.md",
    "Dockerfile",
    "LICENSE",
    "README.md",
    ".gitignore",
    ".npmrc",
    "package.json",
    "package-lock.json",
  ],
  ...["config", "crds", "docs", "hack", "src"],
];

/** The same for every repository, so that their commits are the same. */
const identity = {
  GIT_AUTHOR_NAME: "nobody",
  GIT_AUTHOR_EMAIL: "nobody@example.com",
  GIT_AUTHOR_DATE: "2026-01-02T03:04:05Z",
  GIT_COMMITTER_NAME: "nobody",
  GIT_COMMITTER_EMAIL: "nobody@example.com",
  GIT_COMMITTER_DATE: "2026-01-02T03:04:05Z",
  GIT_CONFIG_GLOBAL: "/dev/null",
  GIT_CONFIG_SYSTEM: "/dev/null",
};

export class ReleaseFixture {
  readonly directory = mkdtempSync(join(tmpdir(), "nodevolume-release-"));

  /** @param version for which the changelog gets a section */
  constructor(version: string) {
    for (const path of copied) cpSync(join(root, path), join(this.directory, path), { recursive: true });
    symlinkSync(join(root, "node_modules"), join(this.directory, "node_modules"));
    const changelog = join(this.directory, "CHANGELOG.md");
    const text = readFileSync(changelog, "utf8").replace("## Unreleased\n", `## Unreleased\n\n## ${version}\n`);
    writeFileSync(changelog, text);
    this.git("init", "--quiet", "--initial-branch=main");
    // .gitignore means the folder, not a link to one.
    writeFileSync(join(this.directory, ".git/info/exclude"), "node_modules\n");
    this.git("add", "--all");
    this.git("commit", "--quiet", "--message", "All of it");
  }

  git(...args: string[]): string {
    return execFileSync("git", args, { cwd: this.directory, encoding: "utf8", env: { ...process.env, ...identity } });
  }

  /** Makes a release there. @returns what it wrote. @throws Error with stderr if it was refused */
  async release(args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<string> {
    const script = join(this.directory, "hack/release/release.ts");
    const options = { cwd: tmpdir(), env: { ...process.env, ...identity, ...env } };
    return (await run(process.execPath, [script, ...args], options)).stdout;
  }
}
