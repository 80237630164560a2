import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { root } from "../../../hack/lib/root.ts";

interface Entry {
  readonly version?: string;
  readonly resolved?: string;
  readonly optionalDependencies?: { readonly [name: string]: string };
}

const lock = JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8")) as {
  packages: { [path: string]: Entry };
};

describe("package-lock.json", () => {
  it("has an entry for each optional dependency: one that is missing makes npm ci fail in a fresh clone", () => {
    const missing: string[] = [];
    let seen = 0;
    for (const [path, entry] of Object.entries(lock.packages)) {
      for (const name of Object.keys(entry.optionalDependencies ?? {})) {
        seen += 1;
        if (!reachable(path, name)) missing.push(`${name}, wanted by ${path || "package.json"}`);
      }
    }
    expect(seen).to.be.greaterThan(20);
    expect(missing).to.deep.equal([]);
  });

  it("holds no address of a registry", () => {
    const addresses = Object.values(lock.packages).filter((entry) => entry.resolved?.includes("://"));
    expect(addresses).to.deep.equal([]);
  });

  it("pins what package.json pins, exactly", () => {
    const wanted = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
      [list: string]: { [name: string]: string };
    };
    for (const list of ["dependencies", "devDependencies", "optionalDependencies"]) {
      for (const [name, version] of Object.entries(wanted[list] ?? {})) {
        expect(version, name).to.match(/^\d+\.\d+\.\d+$/);
        expect(lock.packages[`node_modules/${name}`]?.version, name).to.equal(version);
      }
    }
  });
});

/** Where Node would look for a package that is required from `path`. */
function reachable(path: string, name: string): boolean {
  for (let at = path; ; at = at.slice(0, Math.max(0, at.lastIndexOf("node_modules/") - 1))) {
    if (lock.packages[`${at === "" ? "" : `${at}/`}node_modules/${name}`] !== undefined) return true;
    if (at === "") return false;
  }
}
