import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { root } from "../../../../hack/lib/root.ts";
import { debianPackagesIn, packagesOf } from "../../../../hack/release/sbom.ts";

describe("packagesOf", () => {
  const lock = {
    "node_modules/a": {},
    "node_modules/@s/b": {},
    "node_modules/a/node_modules/@s/b": {},
    "node_modules/a/node_modules/c": {},
  };

  it("names each package once, by its place in the lock file, also where it lies in another one", () => {
    const files = [
      ...["src/main.ts", "node_modules/a/index.js", "node_modules/a/lib/other.js", "node_modules/@s/b/x.js"],
      ...["node_modules/a/node_modules/@s/b/x.js", "../elsewhere/node_modules/a/node_modules/c/d/e.js"],
    ];
    expect(packagesOf(files, lock)).to.deep.equal(Object.keys(lock).sort());
  });

  it("fails of a package that the lock file does not have", () => {
    expect(() => packagesOf(["node_modules/strange/index.js"], lock)).to.throw("has no node_modules/strange");
  });
});

describe("debianPackagesIn", () => {
  it("names what the image's programs come from", () => {
    const found = debianPackagesIn(readFileSync(join(root, "Dockerfile"), "utf8"));
    expect(found).to.include.members(["util-linux", "nfs-common", "ca-certificates"]);
    for (const name of found) expect(name).to.match(/^[a-z][a-z0-9+.-]+$/);
  });

  it("reads a list of several lines, and nothing behind it", () => {
    expect(debianPackagesIn("RUN apt-get install -y b \\\n  a \\\n && rm x\nRUN y")).to.deep.equal(["a", "b"]);
  });
});
