import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { arm64Tests, lanes } from "../../../hack/lib/lanes/lanes.ts";
import { root } from "../../../hack/lib/root.ts";

interface Entry {
  readonly version: string;
  readonly cpu?: readonly string[] | string;
  readonly os?: readonly string[] | string;
  readonly hasInstallScript?: true;
  readonly dev?: true;
  readonly optional?: true;
}

const { packages } = JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8")) as {
  packages: { readonly [path: string]: Entry };
};

/** What an image for arm64 takes from npm: no machine of that kind is here to try it. */
describe("what the lock file has for arm64", () => {
  const native = Object.entries(packages).filter(([, { cpu }]) => cpu !== undefined);

  it("is a package for linux-arm64 beside each for linux-x64, of the same version", () => {
    const ofX64 = native.filter(
      ([, { cpu, os }]) => cpu?.includes("x64") && (os === undefined || os.includes("linux")),
    );
    expect(ofX64.length).to.be.greaterThan(4);
    for (const [path, { version }] of ofX64) {
      const [other] = ["arm64", "aarch64"].flatMap((name) => packages[path.replace("x64", name)] ?? []);
      expect(other, path).to.include({ version });
      expect([other?.cpu].flat(), path).to.deep.equal(["arm64"]);
    }
  });

  it("is all that is native in the image: nothing else of it is compiled when it is installed", () => {
    const compiled = Object.entries(packages)
      .filter(([, { hasInstallScript, dev }]) => hasInstallScript && !dev)
      .map(([path]) => path);
    // koffi brings its binaries as packages of their own, protobufjs only looks at versions; nobody runs these scripts.
    const known = ["node_modules/koffi", "node_modules/protobufjs"];
    expect(compiled.filter((path) => !path.includes("node-linux-"))).to.deep.equal(known);
    for (const file of ["Dockerfile", "hack/setup.sh"])
      expect(readFileSync(join(root, file), "utf8"), file).to.include("npm ci --ignore-scripts");
  });

  it("is all that the lane arm64 names: each of its files is there", () => {
    const work = lanes.find(({ name }) => name === "arm64")?.work;
    expect(globSync(work?.kind === "tests" ? work.files : "", { cwd: root })).to.have.members(arm64Tests);
  });

  it("is koffi's binary for glibc, which the Dockerfile copies for whatever it is built on", () => {
    expect(packages["node_modules/@koromix/koffi-linux-arm64"]?.cpu).to.deep.equal(["arm64"]);
    expect(readFileSync(join(root, "Dockerfile"), "utf8")).to.include("node_modules/@koromix/koffi-linux-* ");
  });
});
