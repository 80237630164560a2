import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { type Lock, type Manifest, packagesForBuild } from "../../../hack/lib/image/packages-for-build.ts";
import { root } from "../../../hack/lib/root.ts";

describe("packagesForBuild", () => {
  const manifest = {
    name: "n",
    type: "module",
    dependencies: { a: "1" },
    devDependencies: { esbuild: "1", mocha: "1" },
    optionalDependencies: { big: "1" },
  };
  const lock: Lock = {
    lockfileVersion: 3,
    packages: {
      "": {},
      "node_modules/a": { dependencies: { b: "2", c: "1" }, peerDependencies: { absent: "*" } },
      "node_modules/a/node_modules/b": { dependencies: { c: "1" } },
      "node_modules/b": {},
      "node_modules/big": {},
      "node_modules/c": { optionalDependencies: { a: "1", "not-for-us": "1" } },
      "node_modules/esbuild": { optionalDependencies: { "@esbuild/linux": "1" } },
      "node_modules/@esbuild/linux": {},
      "node_modules/mocha": { dependencies: { b: "1" } },
    },
  };

  it("keeps what the bundles and their builder reach, from where Node finds it", () => {
    const found = packagesForBuild(manifest, lock);
    expect(Object.keys(found.lock.packages)).to.deep.equal([
      ...["", "node_modules/a", "node_modules/a/node_modules/b", "node_modules/c"],
      ...["node_modules/esbuild", "node_modules/@esbuild/linux"],
    ]);
    expect(found.manifest).to.deep.include({
      ...{ type: "module", dependencies: { a: "1" }, devDependencies: { esbuild: "1" } },
    });
    expect(found.manifest).not.to.have.property("optionalDependencies");
  });

  it("fails if the lock file lacks what one of them needs", () => {
    const { "node_modules/c": _, ...packages } = lock.packages;
    expect(() => packagesForBuild(manifest, { ...lock, packages })).to.throw("no c for node_modules/a");
  });

  it("keeps of ours what the images are made of, for both processors, and no program of the tests", () => {
    const read = <T>(name: string) => JSON.parse(readFileSync(join(root, name), "utf8")) as T;
    const found = packagesForBuild(read<Manifest>("package.json"), read<Lock>("package-lock.json"));
    const names = Object.keys(found.lock.packages).map((path) => path.replace("node_modules/", ""));
    expect(names).to.include.members(["@grpc/grpc-js", "winston", "@kubernetes/client-node", "koffi", "esbuild"]);
    for (const processor of ["x64", "arm64"])
      expect(names).to.include.members([`@esbuild/linux-${processor}`, `@koromix/koffi-linux-${processor}`]);
    const unused = /^(node-linux|@biomejs|@bufbuild\/buf$|@bufbuild\/buf-|typescript|@typescript|mocha|ts-proto)/;
    expect(names.filter((name) => unused.test(name))).to.deep.equal([]);
  });
});
