import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { revisionOf } from "../../../hack/lib/revision.ts";

describe("revisionOf", () => {
  const directory = mkdtempSync(join(tmpdir(), "nodevolume-revision-"));
  const own = join(directory, "own");
  const git = (...args: string[]) => execFileSync("git", args, { cwd: own, encoding: "utf8" }).trim();
  before(() => {
    mkdirSync(own);
    git("init", "--quiet");
    writeFileSync(join(own, "file"), "a");
    git("add", "--all");
    git("-c", "user.name=n", "-c", "user.email=n@example.com", "commit", "--quiet", "--message", "All of it");
  });
  after(() => rmSync(directory, { recursive: true }));

  it("is the commit of a tree that is as committed, and marks one that is not", () => {
    const commit = git("rev-parse", "HEAD");
    expect(commit).to.match(/^[0-9a-f]{40,64}$/);
    expect(revisionOf(own)).to.equal(commit);
    writeFileSync(join(own, "file"), "b");
    expect(revisionOf(own)).to.equal(`${commit}-dirty`);
    writeFileSync(join(own, "file"), "a");
    writeFileSync(join(own, "another"), "");
    expect(revisionOf(own)).to.equal(`${commit}-dirty`);
  });

  it("is unknown without git, without a commit, and of a folder in the repository of something else", () => {
    expect(revisionOf(directory)).to.equal("unknown");
    const empty = join(directory, "empty");
    mkdirSync(empty);
    execFileSync("git", ["init", "--quiet"], { cwd: empty });
    expect(revisionOf(empty)).to.equal("unknown");
    const within = join(own, "unpacked");
    mkdirSync(within);
    expect(revisionOf(within)).to.equal("unknown");
    expect(revisionOf(join(directory, "nothing"))).to.equal("unknown");
  });
});
