import type { MountAttributes } from "../../../src/host/ports/types.ts";
import type { Dentry, Maker } from "./dentry.ts";
import type { Superblock } from "./superblock.ts";

/** A place in the mount tree: a file as one mount shows it. */
export interface Path {
  readonly mount: Mount;
  readonly dentry: Dentry;
}

export interface MountInput {
  readonly id: number;
  readonly uniqueID: number;
  readonly root: Dentry;
  readonly attributes: MountAttributes;
  readonly maker: Maker;
  readonly volume?: string | undefined;
}

/** One mount: a part of a file system, attached to a place of one namespace. */
export class Mount {
  /** Used again as soon as it is free. */
  readonly id: number;
  /** Never used again; the order in which mountinfo lists mounts. */
  readonly uniqueID: number;
  readonly root: Dentry;
  readonly maker: Maker;
  /** The volume that the agent mounted it for; binds and copies of it carry the name along. */
  readonly volume: string | undefined;
  attributes: MountAttributes;
  namespace: Namespace | undefined;
  parent: Mount | undefined;
  point: Dentry | undefined;
  /** Mounts on it, by the place that they are on. Of several on one place each is on the root of the one before. */
  readonly children = new Map<Dentry, Mount>();
  /** Peer group that it is in, and the one that it receives from. */
  group: number | undefined;
  master: number | undefined;
  /** Processes with their working directory or an open file in it. */
  users = 0;

  constructor(input: MountInput) {
    this.id = input.id;
    this.uniqueID = input.uniqueID;
    this.root = input.root;
    this.attributes = input.attributes;
    this.maker = input.maker;
    this.volume = input.volume;
  }

  get superblock(): Superblock {
    return this.root.superblock;
  }
}

/** A mount namespace. It lives while a process is in it. */
export class Namespace {
  readonly name: string;
  root: Mount | undefined;
  readonly mounts = new Set<Mount>();
  processes = 0;
  /** Told after a mount came, went or was given other options; not of what happens to the files that mounts show. */
  readonly watchers = new Set<() => void>();

  constructor(name: string) {
    this.name = name;
  }

  changed(): void {
    for (const watcher of this.watchers) watcher();
  }
}

/** What mount(8) sets when nothing is asked for. */
export const plainAttributes: MountAttributes = {
  readOnly: false,
  nosuid: false,
  nodev: false,
  noexec: false,
  nosymfollow: false,
  nodiratime: false,
  atime: "relatime",
};
