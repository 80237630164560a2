import { execFileSync } from "node:child_process";
import { closeSync, mkdirSync, mkdtempSync, readFileSync, rmdirSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { AT_EMPTY_PATH, AT_FDCWD, O, RESOLVE, UMOUNT } from "../../../src/host/linux/syscall/constants.ts";
import { Descriptor } from "../../../src/host/linux/syscall/descriptor.ts";
import { Errno } from "../../../src/host/linux/syscall/errno.ts";
import { loadLibc } from "../../../src/host/linux/syscall/libc.ts";
import { isBeneath } from "../../../src/host/mount-table/mount-table.ts";
import { type MountEntry, parseMountinfo } from "../../../src/host/mount-table/mountinfo.ts";
import { Canary } from "./canary.ts";

/** Sources of mounts that nobody of ours may touch. */
const foreignSources = ["outside", "foreign"];

/** A shared tmpfs in which each race has a world of its own. Made before the swapper starts, so that both see it. */
export class Arena implements Disposable {
  readonly path: string;
  readonly libc = loadLibc();
  #worlds = 0;

  constructor() {
    this.path = mkdtempSync(join(tmpdir(), "nvo-arena-"));
    execFileSync("mount", ["-t", "tmpfs", "-o", "nr_inodes=0", "arena", this.path]);
    execFileSync("mount", ["--make-shared", this.path]);
  }

  world(): World {
    return new World(this, `${this.path}/${this.#worlds++}`);
  }

  /** Mounts beneath a path; where it may be swapped, where they are at this moment. */
  mounts(beneath: string): MountEntry[] {
    const all = parseMountinfo(readFileSync("/proc/self/mountinfo", "utf8"));
    return all.filter(({ point }) => isBeneath(point, beneath) && point !== this.path);
  }

  [Symbol.dispose](): void {
    for (const { point } of this.mounts(this.path).reverse()) execFileSync("umount", ["-l", point]);
    execFileSync("umount", [this.path]);
    rmdirSync(this.path);
  }
}

/**
 *   prefix/dir/target     what operations are given          prefix/other/target   its double
 *   prefix/dir/foreign    has another's tmpfs mounted        prefix/link           leads to outside
 *   root/src/sub          a source, with the file `ours`     root/other/sub, root/link, root/src/leaflink
 *   outside/…             has all the same names, and must never change
 */
export class World {
  readonly #arena: Arena;
  readonly path: string;
  readonly canary: Canary;

  constructor(arena: Arena, path: string) {
    this.#arena = arena;
    this.path = path;
    const names = ["prefix/dir/target", "prefix/dir/foreign", "prefix/other/target", "prefix/dir/full", "gone"];
    const lures = ["target", "sub", "mnt", "new/made", "empty", "k", "data/k", "staging/k", "dir/target", "trash/x"];
    const sources = ["root/src/sub", "root/other/sub", "state/data/k", "state/staging", "state/trash"];
    for (const name of [...names, ...sources, ...lures.map((lure) => `outside/${lure}`)]) {
      mkdirSync(`${path}/${name}`, { recursive: true });
    }
    for (const file of ["outside/file", "outside/sub/theirs", "root/src/sub/ours", "prefix/dir/full/kept"]) {
      writeFileSync(`${path}/${file}`, "content");
    }
    // Relative: an absolute link leads over the root directory, and so out of the mount, which is refused besides.
    for (const link of ["prefix/link", "root/link", "state/link"]) symlinkSync("../outside", `${path}/${link}`);
    for (const link of ["prefix/dir/leaflink", "root/src/leaflink"]) {
      symlinkSync("../../outside/target", `${path}/${link}`);
    }
    writeFileSync(`${path}/prefix/dir/file`, "");
    for (const [source, point] of [
      ["outside", "outside/mnt"],
      ["foreign", "prefix/dir/foreign"],
    ] as const) {
      execFileSync("mount", ["-t", "tmpfs", "-o", "size=64k", source, `${path}/${point}`]);
      writeFileSync(`${path}/${point}/theirs`, "content");
    }
    this.canary = new Canary(`${path}/outside`, () => this.mounts().filter(isForeign));
  }

  at(relative: string): string {
    return `${this.path}/${relative}`;
  }

  /** A directory held, to act in what has the name for the moment; undefined while it is a link, or nothing. */
  hold(relative: string): Descriptor | undefined {
    try {
      const flags = O.PATH | O.DIRECTORY | O.CLOEXEC;
      return new Descriptor(this.#arena.libc.openat2(AT_FDCWD, this.at(relative), flags, 0, RESOLVE.NO_SYMLINKS));
    } catch (error) {
      if (error instanceof Errno) return undefined;
      throw error;
    }
  }

  mounts(): MountEntry[] {
    return this.#arena.mounts(this.path);
  }

  /** Mounts that the code under test has made. */
  ours(): MountEntry[] {
    return this.mounts().filter((mount) => !isForeign(mount));
  }

  /** Takes them down, each by a descriptor whose mount id was looked at: no swap leads to another one. */
  clear(): void {
    const { libc } = this.#arena;
    for (let rest = this.ours(); rest.length > 0; rest = this.ours()) {
      for (const { id, point } of rest.reverse()) {
        try {
          const fd = libc.openat2(AT_FDCWD, point, O.PATH | O.NOFOLLOW | O.CLOEXEC, 0, 0);
          try {
            const stat = libc.statx(fd, "", AT_EMPTY_PATH);
            if (stat.mountRoot && stat.mountID === id) libc.umount2(`/proc/self/fd/${fd}`, UMOUNT.DETACH);
          } finally {
            closeSync(fd);
          }
        } catch (error) {
          if (!(error instanceof Errno)) throw error; // swapped away: it is met again
        }
      }
    }
  }
}

function isForeign({ source }: MountEntry): boolean {
  return foreignSources.includes(source);
}
