import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import {
  baseOf,
  budgets,
  bundlesIn,
  debianPackagesIn,
  debianReleaseOf,
  hasWholeBase,
  nameOf,
  readDockerfile,
  targets,
} from "../../../hack/lib/image/dockerfile.ts";
import { root } from "../../../hack/lib/root.ts";
import { notOnArm64, onlyInFullImage } from "../../../src/host/linux/child/find-program.ts";

const dockerfile = readDockerfile();

describe("the Dockerfile", () => {
  it("has for each image the bundles of its roles", () => {
    expect(bundlesIn(dockerfile, "controller")).to.deep.equal(["main", "controller", "api-proxy"]);
    for (const target of ["agent", "agent-minimal"] as const)
      expect(bundlesIn(dockerfile, target)).to.deep.equal(["main", "agent", "child"]);
  });

  it("has no program of Debian for the controller, and for the small agent all but four", () => {
    expect(debianPackagesIn(dockerfile, "controller")).to.deep.equal(["ca-certificates"]);
    const [minimal, agent] = [debianPackagesIn(dockerfile, "agent-minimal"), debianPackagesIn(dockerfile, "agent")];
    expect(minimal).to.include.members(["util-linux", "nfs-common", "ca-certificates"]);
    for (const name of agent) expect(name).to.match(/^[a-z][a-z0-9+.-]+$/);
    // In the order in which findProgram names their programs.
    const programs = new Map<string, string>([
      ["cifs-utils", "mount.cifs"],
      ["glusterfs-client", "glusterfs"],
      ["ceph-fuse", "ceph-fuse"],
      ["rbd-nbd", "rbd-nbd"],
    ]);
    const more = agent.filter((name) => !minimal.includes(name));
    expect(more).to.have.members([...programs.keys()]);
    expect([...programs.values()]).to.deep.equal([...onlyInFullImage]);
    const onArm64 = debianPackagesIn(dockerfile, "agent", "arm64");
    const lacking = agent.filter((name) => !onArm64.includes(name));
    expect(lacking.map((name) => programs.get(name))).to.deep.equal([...notOnArm64.keys()]);
  });

  it("takes nothing of its base into the controller's image but what it names", () => {
    expect(targets.filter((target) => hasWholeBase(dockerfile, target))).to.deep.equal(["agent-minimal", "agent"]);
  });

  it("builds the agent's image if no target is named", () => {
    expect(dockerfile.split(/^FROM /m).at(-1)).to.match(/^runtime AS agent\n/);
  });

  it("begins with a Debian that is supported, for all stages", () => {
    expect(debianReleaseOf(baseOf(dockerfile))).to.equal("trixie");
    const froms = [...dockerfile.matchAll(/^FROM (\S+) AS (\S+)$/gm)];
    const names = froms.map(([, , name]) => name);
    const others = froms.map(([, from = ""]) => from).filter((from) => !names.includes(from));
    expect([...new Set(others.map((from) => from.replace(/\W/g, "")))]).to.deep.equal(["BASE", "scratch"]);
  });

  it("has labels that package.json agrees with", () => {
    const { description, license, version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
      readonly [field: string]: string;
    };
    expect(dockerfile).to.include(`image.description="${description}"`).and.include(`image.licenses="${license}"`);
    expect(dockerfile).to.include(`\nARG VERSION=${version}\n`);
    for (const target of targets) expect(dockerfile).to.include(`image.title="${nameOf(target)}"\n`);
  });
});

describe("docs/release.md", () => {
  it("names the size that each image may have", () => {
    const rows = readFileSync(join(root, "docs/release.md"), "utf8").matchAll(
      /^\| `([\w-]+)` \|.*\| (\d+) MB \| (\d+) MB \|$/gm,
    );
    const read = [...rows].map(([, name, size, budget]) => ({ name, size: Number(size), budget: Number(budget) }));
    expect(read.map(({ name, budget }) => [name, budget])).to.deep.equal(
      targets.map((target) => [nameOf(target), budgets[target] / 1e6]),
    );
    for (const { name, size, budget } of read) expect(size, name).to.be.lessThan(budget);
  });
});
