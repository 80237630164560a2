import type { MountEntry } from "../../../src/host/mount-table/mountinfo.ts";
import type { Dentry, Maker } from "./dentry.ts";
import type { Disk } from "./disk.ts";
import { Errno } from "./errno.ts";
import { LowestFree } from "./lowest-free.ts";
import { type Mount, Namespace, type Path, plainAttributes } from "./mount.ts";
import { MountTree } from "./mount-tree.ts";
import { mountinfo } from "./mountinfo.ts";
import { Processes } from "./processes.ts";
import { Superblock } from "./superblock.ts";

/** Told of what changes on a node, with who does it. */
export interface KernelListener {
  attached(mount: Mount, actor: Maker): void;
  detached(mount: Mount, from: Path, actor: Maker): void;
  /** A name is about to be taken away: by rmdir, unlink or the emptying of the trash. */
  removed(dentry: Dentry, actor: Maker): void;
}

export interface KernelInput {
  readonly bootID: string;
  /** The node's root file system, which survives a reboot. */
  readonly rootDisk: Disk;
  readonly listener: KernelListener;
  /** Clock ticks since boot. */
  readonly ticks: () => number;
}

/**
 * One boot of one node: its mounts, namespaces and processes. A model of Linux, faithful where the agent could tell.
 */
export class Kernel {
  readonly bootID: string;
  readonly tree: MountTree;
  readonly processes: Processes;
  readonly host: Namespace;
  readonly listener: KernelListener;
  /** On whose behalf system calls are made now. */
  actor: Maker = "system";
  /** Grows with everything that could change a mount table. */
  version = 0;
  /** Disks that come with a mount and go with the last one (loop devices), by number. */
  readonly loops = new Map<string, Disk>();
  readonly #minors = new LowestFree(40);
  readonly #tables = new Map<Namespace, { readonly version: number; readonly entries: readonly MountEntry[] }>();

  constructor({ bootID, rootDisk, listener, ticks }: KernelInput) {
    this.bootID = bootID;
    this.listener = listener;
    this.tree = new MountTree(
      {
        attached: (mount) => {
          this.version++;
          listener.attached(mount, this.actor);
        },
        detached: (mount, from) => {
          this.version++;
          listener.detached(mount, from, this.actor);
        },
      },
      (superblock) => this.#unused(superblock),
    );
    this.processes = new Processes(this.tree, ticks);
    this.host = new Namespace("host");
    const root = this.tree.create({ root: this.diskRoot(rootDisk), attributes: plainAttributes, maker: "system" });
    this.tree.plant(root, this.host);
    this.tree.groups.share(root); // as systemd does
    this.processes.start("systemd", this.host);
  }

  /** Runs system calls on somebody's behalf. */
  as<T>(actor: Maker, calls: () => T): T {
    const before = this.actor;
    this.actor = actor;
    try {
      return calls();
    } finally {
      this.actor = before;
    }
  }

  /** The mount table that processes of a namespace read. The same array as long as nothing has changed. */
  table(namespace: Namespace): readonly MountEntry[] {
    const known = this.#tables.get(namespace);
    if (known?.version === this.version) return known.entries;
    const entries = mountinfo(namespace);
    this.#tables.set(namespace, { version: this.version, entries });
    return entries;
  }

  /** Namespaces with a process in them. */
  namespaces(): Namespace[] {
    return [...new Set([...this.processes.all()].map((process) => process.namespace))];
  }

  /** The root of a new file system in memory. */
  memoryRoot(fsType: string, source: string, options: readonly string[]): Dentry {
    return new Superblock({ device: `0:${this.#minors.take()}`, fsType, source, options }).root;
  }

  /** The root of a disk's file system, which all its mounts share. @throws Errno EINVAL, EBUSY */
  diskRoot(disk: Disk): Dentry {
    if (disk.filesystem === undefined) throw new Errno("EINVAL", `mount ${disk.name}`);
    if (disk.holder !== undefined) throw new Errno("EBUSY", `mount ${disk.name}`);
    disk.filesystem.device = disk.number;
    return disk.filesystem.root;
  }

  /**
   * A new mount of a file or directory, attached to what `place` finds once it is made; if that fails, nothing is left.
   */
  attachNew(root: Dentry, place: () => Path, mount: Omit<Parameters<MountTree["create"]>[0], "root">): Mount {
    const made = this.tree.create({ root, ...mount });
    try {
      this.tree.attach(made, place());
      return made;
    } catch (error) {
      this.tree.drop(made);
      throw error;
    }
  }

  #unused(superblock: Superblock): void {
    if (superblock.disk === undefined) this.#minors.free(Number(superblock.device.slice(2)));
  }
}
