import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { loadAll } from "js-yaml";
import { root } from "../../../hack/lib/root.ts";

interface SampleSet {
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly spec: { readonly mounts?: readonly { readonly path: string }[] };
}

describe("config/samples", () => {
  const files = globSync("config/samples/**/*.yaml", { cwd: root }).filter(
    (path) => !path.endsWith("kustomization.yaml"),
  );
  const sets = files.flatMap((file) =>
    (loadAll(readFileSync(join(root, file), "utf8")) as SampleSet[]).filter(({ kind }) => kind === "NodeVolumeSet"),
  );

  it("are many, and no two have one name", () => {
    const names = sets.map(({ metadata }) => metadata.name);
    expect(names).to.have.length.greaterThan(25);
    expect(names.filter((name, index) => names.indexOf(name) !== index)).to.deep.equal([]);
  });

  it("mount on no path of another sample, nor beneath it: applied together they would be in conflict", () => {
    const mounts = sets.flatMap(({ metadata: { name }, spec }) =>
      (spec.mounts ?? []).map(({ path }) => ({ name, path })),
    );
    const conflicts = mounts.flatMap((one) =>
      mounts
        .filter((other) => other !== one && `${other.path}/`.startsWith(`${one.path}/`))
        .map((other) => `${other.path} of ${other.name} is at or beneath ${one.path} of ${one.name}`),
    );
    expect(conflicts).to.deep.equal([]);
  });
});
