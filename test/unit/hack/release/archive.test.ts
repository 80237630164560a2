import { execFileSync } from "node:child_process";
import { gunzipSync } from "node:zlib";
import { expect } from "chai";
import { type ArchiveFile, archiveOf } from "../../../../hack/release/archive.ts";
import { changesOf } from "../../../../hack/release/changelog.ts";

const files = (...names: string[]) => new Map<string, ArchiveFile>(names.map((name) => [name, { content: name }]));

describe("archiveOf", () => {
  it("is the same whatever the order, and has no time of its own", () => {
    const archive = archiveOf(files("b", "a"));
    expect(archive.equals(archiveOf(files("a", "b")))).to.equal(true);
    expect(archive.readUInt32LE(4)).to.equal(0); // the time in gzip's header
  });

  it("is what tar reads, with what may be run", () => {
    const archive = archiveOf(new Map([["run", { content: "x", executable: true }]]));
    const listed = execFileSync("tar", ["-tvf", "-", "--utc"], { input: gunzipSync(archive), encoding: "utf8" });
    expect(listed).to.match(/^-rwxr-xr-x .* 1970-01-01 00:00 run\n$/);
  });

  it("refuses a path that the format would cut", () => {
    expect(() => archiveOf(files("a".repeat(101)))).to.throw("too long");
  });
});

describe("changesOf", () => {
  const changelog = "# Changelog\n\n## Unreleased\n\n## 1.2.0 - 2026-01-02\n\n### Added\n- a\n\n## [1.1.0]\n- b\n";

  it("finds the section of a version, dated or in brackets", () => {
    expect(changesOf(changelog, "1.2.0")).to.equal("### Added\n- a");
    expect(changesOf(changelog, "1.1.0")).to.equal("- b");
  });

  it("finds none of a version that is not there, or has nothing", () => {
    expect(changesOf(changelog, "1.2")).to.equal(undefined);
    expect(changesOf(changelog, "Unreleased")).to.equal("");
  });
});
