import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { baseOf, debianPackagesIn, debianReleaseOf, readDockerfile } from "../../../hack/lib/image/dockerfile.ts";
import { arm64Tests, lanes } from "../../../hack/lib/lanes/lanes.ts";
import { skipBecause } from "../../../hack/lib/lanes/skip-reason.ts";
import { slow } from "../../../hack/lib/lanes/slow.ts";
import { root } from "../../../hack/lib/root.ts";
import { openDebianIndex } from "../../../hack/lib/tools/debian.ts";

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

describe("what Debian has for the images for arm64", () => {
  slow("is each package that the Dockerfile installs there, and none that it leaves out", async function () {
    const dockerfile = readDockerfile();
    const of = { suite: debianReleaseOf(baseOf(dockerfile)), architecture: "arm64" };
    const opened = await openDebianIndex(of, { env: process.env, report: (line) => console.log(`  ${line}`) });
    if ("missing" in opened) skipBecause(this, opened.missing);
    using index = opened;
    const needed = debianPackagesIn(dockerfile, "agent", "arm64");
    const installed = (await index.closureOf(needed)).map((one) => one.replace(/=.*/, ""));
    console.log(`    ${needed.length} packages, with ${installed.length - needed.length} that they need`);
    expect(installed).to.include.members(needed).and.include("libc6");
    // As soon as Debian has it, the Dockerfile need not leave it out.
    for (const name of debianPackagesIn(dockerfile, "agent").filter((one) => !needed.includes(one))) {
      const words = await index.closureOf([name]).then(String, (error: Error) => error.message);
      expect(words).to.include(`Package '${name}' has no installation candidate`);
    }
  });
});
