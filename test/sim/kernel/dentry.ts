import type { FileKind } from "../../../src/host/ports/host-ports.ts";
import type { Disk } from "./disk.ts";
import { Errno } from "./errno.ts";
import type { Mount } from "./mount.ts";
import type { Superblock } from "./superblock.ts";

/** Who made a file or a mount: what somebody else made is never the agent's to remove. */
export type Maker = "system" | "person" | "consumer" | "driver" | "agent";

export type DentryKind = FileKind | "symlink";

/** A name in a file system with the file that it stands for. Nothing here has hard links, so that the two are one. */
export class Dentry {
  readonly superblock: Superblock;
  readonly inode: number;
  readonly kind: DentryKind;
  readonly maker: Maker;
  mode: number;
  gid = 0;
  name: string;
  parent: Dentry | undefined;
  readonly children = new Map<string, Dentry>();
  unlinked = false;
  /** Of a file: what is in it. Of a link: where it leads. */
  content = "";
  /** Of a block device. */
  disk: Disk | undefined;
  /** Mounts of all namespaces that have this as their mount point. */
  readonly mountedOn = new Set<Mount>();
  /** Mounts of all namespaces that show this as their root. */
  readonly shownBy = new Set<Mount>();

  /** Who is told of each name in it that comes or goes, as inotify(7) does it. */
  #marks: Set<(name: string) => void> | undefined;

  constructor(superblock: Superblock, kind: DentryKind, maker: Maker, mode: number, name = "") {
    this.superblock = superblock;
    this.inode = superblock.takeInode();
    this.kind = kind;
    this.maker = maker;
    this.mode = mode;
    this.name = name;
  }

  /** Path within the file system, as the fourth field of mountinfo has it. */
  get path(): string {
    const path = pathFromRoot(this);
    return this.unlinked ? `${path}//deleted` : path;
  }

  add(child: Dentry): void {
    if (this.kind !== "directory") throw new Errno("ENOTDIR", "create");
    if (this.unlinked) throw new Errno("ENOENT", "create");
    child.parent = this;
    this.children.set(child.name, child);
    this.#tell(child.name);
  }

  /** Takes a name out of a directory; the file may get another one. */
  drop(child: Dentry): void {
    this.children.delete(child.name);
    this.#tell(child.name);
  }

  mark(onName: (name: string) => void): () => void {
    this.#marks ??= new Set();
    this.#marks.add(onName);
    return () => this.#marks?.delete(onName);
  }

  #tell(name: string): void {
    for (const told of [...(this.#marks ?? [])]) told(name);
  }

  /** Takes the name away. The file itself lives on while somebody shows or uses it. */
  unlink(): void {
    this.parent?.drop(this);
    this.unlinked = true;
    if (this.shownBy.size === 0) this.superblock.freeInode(this.inode);
  }
}

/** Names from `ancestor` down to `dentry`, joined; undefined if it is not beneath it. */
export function relativeTo(ancestor: Dentry, dentry: Dentry): string | undefined {
  const names: string[] = [];
  for (let at: Dentry | undefined = dentry; at !== ancestor; at = at.parent) {
    if (at === undefined) return undefined;
    names.unshift(at.name);
  }
  return names.join("/");
}

function pathFromRoot(dentry: Dentry): string {
  const names: string[] = [];
  for (let at = dentry; at.parent !== undefined; at = at.parent) names.unshift(at.name);
  return `/${names.join("/")}`;
}
