import { expect } from "chai";
import { debianPackagesOf, packagesOf, sbomOf } from "../../../../hack/release/sbom.ts";

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

describe("debianPackagesOf", () => {
  it("reads lists of several lines, those of stages that are copied too, and nothing behind them", () => {
    const dockerfile = [
      ...["FROM x AS build", "RUN y", "FROM x AS some", "RUN apt-get install -y b \\", "  a \\", " && rm x"],
      ...["FROM some AS all", "RUN apt-get install c", "FROM scratch AS controller", "COPY --from=build /a /"],
      ...["COPY --from=some /b /", "FROM scratch AS agent", "COPY --from=all / /", "COPY --from=build /app /app"],
    ].join("\n");
    expect(debianPackagesOf(dockerfile, "agent")).to.deep.equal(["a", "b", "c"]);
    expect(debianPackagesOf(dockerfile, "controller")).to.deep.equal(["a", "b", "libc6", "libgcc-s1", "libstdc++6"]);
  });

  it("leaves out for one architecture what a condition leaves out there, and for another not", () => {
    const condition = '[ "$(dpkg --print-architecture)" = arm64 ] ||';
    const dockerfile = `FROM x AS all\nRUN apt-get install a\nRUN ${condition} apt-get install -y b\nFROM scratch AS agent\nCOPY --from=all / /\n`;
    const [all, amd64, arm64] = [undefined, "amd64", "arm64"].map((one) => debianPackagesOf(dockerfile, "agent", one));
    expect([all, amd64, arm64]).to.deep.equal([["a", "b"], ["a", "b"], ["a"]]);
  });
});

describe("sbomOf", () => {
  const digest = `sha256:${"0a".repeat(32)}`;
  const input = { name: "it", version: "1.0.0", created: new Date(0), files: [], lock: {} };
  const dockerfile = "FROM x AS y\nFROM scratch AS agent\nCOPY --from=y / /\n";
  const purls = (base: string) => {
    const sbom = JSON.parse(sbomOf({ ...input, image: { dockerfile, target: "agent", base } })) as {
      packages: { externalRefs: { referenceLocator: string }[] }[];
    };
    return sbom.packages.map(({ externalRefs: [ref] }) => ref?.referenceLocator);
  };

  it("names the base by its digest where it has one, and the Node in it by its tag", () => {
    const own = "pkg:generic/it@1.0.0";
    const node = "pkg:generic/node@24.1.0";
    expect(purls("node:24.1.0-x-slim")).to.deep.equal([own, node, "pkg:docker/node@24.1.0-x-slim"]);
    expect(purls(`r.example.com:5000/node:24.1.0-x@${digest}`)).to.deep.equal([
      ...[own, node, `pkg:docker/r.example.com:5000/node@${digest}`],
    ]);
  });

  it("of a program has nothing of an image", () => {
    expect((JSON.parse(sbomOf(input)) as { packages: unknown[] }).packages).to.have.length(1);
  });
});
