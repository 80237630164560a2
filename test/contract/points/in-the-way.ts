import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, readlinkSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { expect } from "chai";
import { asMountPath } from "../../../src/agent/model/identities.ts";
import type { Reason } from "../../../src/api/reasons.ts";
import { volumeName } from "../bench.ts";
import type { Case } from "../case.ts";
import type { Point } from "../point.ts";
import { wokenBy } from "../woken.ts";

/** Something that somebody else has put where a target is to be. */
interface Obstacle {
  readonly name: string;
  put(path: string): void;
  /** Fails unless it is as it was. */
  isThere(path: string): void;
  remove(path: string): void;
  readonly reason: Reason;
  /** Its going is told by the mount table, of which each change is looked at, and by nothing else. */
  readonly isInTable?: true;
}

const file: Obstacle = {
  name: "file",
  put: (path) => writeFileSync(path, "theirs"),
  isThere: (path) => expect(readFileSync(path, "utf8")).to.equal("theirs"),
  remove: (path) => rmSync(path),
  reason: "TargetNotDirectory",
};
const directory: Obstacle = {
  name: "directory",
  put: (path) => mkdirSync(`${path}/theirs`, { recursive: true }),
  isThere: (path) => expect(readdirSync(path)).to.deep.equal(["theirs"]),
  remove: (path) => rmSync(path, { recursive: true }),
  reason: "TargetNotFile",
};
const danglingLink: Obstacle = {
  name: "link",
  put: (path) => symlinkSync("/no/such/place", path),
  isThere: (path) => expect(readlinkSync(path)).to.equal("/no/such/place"),
  remove: (path) => rmSync(path),
  reason: "SymlinkInPath",
};
const foreignMount: Obstacle = {
  name: "mount",
  put(path) {
    mkdirSync(path);
    execFileSync("mount", ["-t", "tmpfs", "theirs", path]);
  },
  isThere: (path) => execFileSync("mountpoint", ["-q", path]),
  remove: (path) => execFileSync("umount", [path]),
  reason: "ForeignMount",
  isInTable: true,
};
const foreignFile: Obstacle = {
  ...foreignMount,
  put(path) {
    writeFileSync(path, "");
    execFileSync("mount", ["--bind", "/proc/version", path]);
  },
};

const obstacles = ({ kind }: Case) =>
  kind === undefined ? [file, danglingLink, foreignMount] : [directory, danglingLink, foreignFile];

export const inTheWay: Point = {
  name: "in the way",
  title: "what is in the way of a target is named and left as it is, and its going is heard",
  async holds(bench) {
    const { node, of, targets } = bench;
    await bench.setUp();
    const [rw] = targets;
    for (const { name, put, isThere, remove, reason, isInTable } of obstacles(of)) {
      const path = asMountPath(node.target(name));
      put(path);
      node.want(bench.intent({ mounts: [{ path: rw }, { path }] }));
      const volume = await node.volume(volumeName);
      expect(volume.problems.targets.get(path)?.reason ?? volume.failure?.reason, name).to.equal(reason);
      expect(volume.problems.targets.get(path)?.message ?? volume.failure?.message, name).to.contain(path);
      isThere(path);
      bench.shows(rw);
      if (isInTable) remove(path);
      else await wokenBy(node, volumeName, () => remove(path));
      node.forgetFailures();
      await node.converge();
      bench.shows(rw, path);
    }
  },
};

export const partly: Point = {
  name: "partly",
  title: "a target that cannot be made holds up no other, neither when it is set up nor when it is released",
  alone: true,
  async holds(bench) {
    const { node, targets } = bench;
    const [rw] = targets;
    const beneath = node.target("file/a");
    file.put(node.target("file"));
    node.want(bench.intent({ mounts: [{ path: beneath }, { path: rw }] }));
    const { failure } = await node.volume(volumeName);
    expect(failure?.reason).to.equal("TargetNotDirectory");
    expect(failure?.message).to.contain(node.target("file"));
    bench.shows(rw);
    await node.restart();
    const volume = await bench.release();
    expect(volume.phase, volume.failure?.message).to.equal("released");
    file.isThere(node.target("file"));
    await bench.isGone();
  },
};
