import { lstatSync, readdirSync, readFileSync, readlinkSync } from "node:fs";
import { expect } from "chai";
import type { MountEntry } from "../../../src/host/mount-table/mountinfo.ts";

/** What must never change: a tree outside of everything that the code under test may touch, and mounts of others. */
export class Canary {
  readonly #path: string;
  readonly #foreign: () => readonly MountEntry[];
  readonly #before: Readonly<Record<"tree" | "mounts" | "shown", readonly string[]>>;

  constructor(path: string, foreign: () => readonly MountEntry[]) {
    this.#path = path;
    this.#foreign = foreign;
    this.#before = this.#now();
  }

  /**
   * @throws AssertionError if it is not as it was: every inode, time, mode, owner and content, each mount and its
   *   options
   */
  expectAlive(): void {
    expect(this.#now()).to.deep.equal(this.#before);
  }

  /** The mounts alone: cheap enough to look often. */
  expectMounts(): void {
    expect(this.#mounts()).to.deep.equal(this.#before.mounts);
  }

  #now() {
    const shown = this.#foreign().flatMap(({ point, source }) =>
      describeTree(point).map((line) => [source, line.replace(point, "")].join(" ")),
    );
    return { tree: describeTree(this.#path), mounts: this.#mounts(), shown: shown.sort() };
  }

  /** Not where they are: the swapper moves their mount points. */
  #mounts(): string[] {
    return this.#foreign()
      .map(({ id, root, source, options, superOptions, device }) =>
        [id, root, source, options, superOptions, device].join(" "),
      )
      .sort();
  }
}

function describeTree(path: string): string[] {
  const stat = lstatSync(path, { bigint: true });
  const { ino, dev, mode, nlink, uid, gid, size, mtimeNs, ctimeNs } = stat;
  const content = stat.isFile() ? readFileSync(path, "base64") : stat.isSymbolicLink() ? readlinkSync(path) : "";
  const line = [path, ino, dev, mode, nlink, uid, gid, size, mtimeNs, ctimeNs, content].join(" ");
  return [
    line,
    ...(stat.isDirectory()
      ? readdirSync(path)
          .sort()
          .flatMap((name) => describeTree(`${path}/${name}`))
      : []),
  ];
}
