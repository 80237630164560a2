import { expect } from "chai";
import { asVolumeName } from "../../../../../src/agent/model/identities.ts";
import { MountDependencyIndex } from "../../../../../src/agent/planner/incremental/mount-dependencies.ts";
import { entry } from "../../../../lib/builders/mount-entries.ts";

describe("MountDependencyIndex", () => {
  const index = () => {
    const all = new MountDependencyIndex();
    all.set(asVolumeName("a"), { points: ["/mnt/a", "/staging/a"], ids: [41], groups: [7] });
    all.set(asVolumeName("b"), { points: ["/mnt/b/c"], ids: [], groups: [] });
    return all;
  };
  const of = (mount: Parameters<typeof entry>[0]) => [...new Set(index().of(entry(mount)))];

  it("a mount matters to whose mount point it is on, and to those beneath it", () => {
    expect(of({ id: 1, point: "/staging/a" })).to.deep.equal(["a"]);
    expect(of({ id: 1, point: "/mnt" })).to.deep.equal(["a", "b"]);
    expect(of({ id: 1, point: "/mnt/b" })).to.deep.equal(["b"]);
    expect(of({ id: 1, point: "/" })).to.deep.equal(["a", "b"]);
  });

  it("a mount with a recorded id matters wherever it is: it may have been moved along with a directory", () => {
    expect(of({ id: 41, point: "/elsewhere" })).to.deep.equal(["a"]);
    expect(of({ id: 42, point: "/elsewhere" })).to.deep.equal([]);
  });

  it("forgets a volume that is gone", () => {
    const all = index();
    all.set(asVolumeName("a"), undefined);
    expect([...all.of(entry({ id: 41, point: "/mnt/a" }))]).to.deep.equal([]);
    expect([...all.of(entry({ id: 1, point: "/mnt" }))]).to.deep.equal(["b"]);
  });
});
