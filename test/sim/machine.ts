import type { MountTable } from "../../src/host/mount-table/mount-table.ts";
import { MountTable as Table } from "../../src/host/mount-table/mount-table.ts";
import type { MountEntry } from "../../src/host/mount-table/mountinfo.ts";
import { type AgentPlace, podHostRoot, podNamespace } from "./kernel/agent-namespace.ts";
import { Dentry } from "./kernel/dentry.ts";
import { Disk } from "./kernel/disk.ts";
import { makeDirectories } from "./kernel/files.ts";
import { Kernel, type KernelListener } from "./kernel/kernel.ts";
import { rootOf, walk } from "./kernel/lookup.ts";
import type { Namespace } from "./kernel/mount.ts";
import type { Process } from "./kernel/processes.ts";
import { Superblock } from "./kernel/superblock.ts";
import type { Scheduler } from "./scheduler.ts";

/** Where things are on every simulated node. */
export const layout = {
  prefix: "/mnt/nodevolume",
  stateDir: "/var/lib/nodevolume",
  csiDir: "/var/lib/kubelet/plugins/nodevolume.dev",
  kubeletDir: "/var/lib/kubelet",
  /** Where kubelet has its pods. */
  podsDir: "/var/lib/kubelet/pods",
  /** Directories and disks that people bring. */
  sources: "/srv",
} as const;

export interface MachineInput {
  readonly name: string;
  readonly scheduler: Scheduler;
  readonly listener: KernelListener;
  readonly place: AgentPlace;
  /** Type of the root file system: ext4 if not given. */
  readonly rootType?: string;
}

/** One node: what survives a reboot (disks, the journal on them), and the kernel that runs now. */
export class Machine {
  readonly name: string;
  readonly place: AgentPlace;
  readonly disks = new Map<string, Disk>();
  /**
   * What is on the disk of the agent's journal. Begun: there was one, which the state directory still tells when it is
   * gone. Doubtful: an append failed that may have been carried out.
   */
  readonly journal: { text: string | undefined; begun: boolean; doubtful: boolean } = {
    text: undefined,
    begun: false,
    doubtful: false,
  };
  /** Targets of pods that have their volume, as kubelet sees it: nobody may take them away. */
  readonly podsHeld = new Set<string>();
  kernel: Kernel;
  boots = 0;
  readonly #rootDisk: Disk;
  readonly #scheduler: Scheduler;
  readonly #listener: KernelListener;
  #bootedAt = 0;
  readonly #tables = new WeakMap<Namespace, { readonly entries: readonly MountEntry[]; readonly table: MountTable }>();

  constructor({ name, scheduler, listener, place, rootType = "ext4" }: MachineInput) {
    this.name = name;
    this.place = place;
    this.#scheduler = scheduler;
    this.#listener = listener;
    this.#rootDisk = new Disk("/dev/vda", "254:0");
    this.#rootDisk.filesystem = new Superblock({
      device: "254:0",
      fsType: rootType,
      source: "/dev/vda",
      options: rootType === "tmpfs" ? ["mode=755"] : [],
      disk: this.#rootDisk,
    });
    this.kernel = this.boot();
    for (const path of [layout.prefix, layout.stateDir, layout.csiDir, layout.podsDir, layout.sources, "/dev"]) {
      makeDirectories(this.kernel, this.kernel.host, path);
    }
  }

  /** Whether a path is a pod's, and kubelet has given it back or not got it yet. */
  isNotPublished(path: string): boolean {
    return path.startsWith(`${layout.podsDir}/`) && !this.podsHeld.has(path);
  }

  /**
   * The machine starts again: every mount and process is gone, what is on disks is not, and devices have other numbers.
   */
  boot(): Kernel {
    this.boots++;
    this.#bootedAt = this.#scheduler.now;
    if (this.boots > 1) for (const superblock of this.#diskFilesystems()) forgetMounts(superblock.root);
    for (const [index, disk] of [this.#rootDisk, ...this.disks.values()].entries()) {
      disk.number = `254:${16 * ((index + 3 * (this.boots - 1)) % 7)}`;
      disk.holder = undefined;
      if (disk.filesystem !== undefined) disk.filesystem.references = 0;
    }
    this.kernel = new Kernel({
      bootID: `${this.name}-boot-${this.boots}`,
      rootDisk: this.#rootDisk,
      listener: this.#listener,
      ticks: () => Math.floor((this.#scheduler.now - this.#bootedAt) / 10),
    });
    return this.kernel;
  }

  /** Adds a block device that the host has at `path`. */
  addDisk(path: string, fsType?: string): Disk {
    const disk = new Disk(path, `254:${16 * (this.disks.size + 1)}`);
    if (fsType !== undefined) format(disk, fsType);
    const { dentry: parent } = makeDirectories(this.kernel, this.kernel.host, path.slice(0, path.lastIndexOf("/")));
    const node = new Dentry(parent.superblock, "blockDevice", "system", 0o660, path.slice(path.lastIndexOf("/") + 1));
    node.disk = disk;
    parent.add(node);
    this.disks.set(path, disk);
    return disk;
  }

  /** Starts a container for the agent, or a process on the host. */
  startAgentProcess(): { readonly namespace: Namespace; readonly process: Process } {
    const shared = [layout.prefix, layout.stateDir, layout.csiDir, layout.podsDir];
    const namespace = this.place === "pod" ? podNamespace(this.kernel, shared) : this.kernel.host;
    return { namespace, process: this.kernel.processes.start("nodevolume-agent", namespace) };
  }

  get hostRoot(): string {
    return this.place === "pod" ? podHostRoot : "/";
  }

  /** The mount table of a namespace, indexed. */
  table(namespace: Namespace): MountTable {
    const entries = this.kernel.table(namespace);
    const known = this.#tables.get(namespace);
    if (known?.entries === entries) return known.table;
    // So that it says what has changed, as the real one does.
    const table = known?.table.replaced(entries) ?? new Table(entries);
    this.#tables.set(namespace, { entries, table });
    return table;
  }

  /** Whether the host sees the same at two paths. */
  shows(path: string, source: string): boolean {
    const root = rootOf(this.kernel.host);
    const shown = walk(root, path, "follow")?.dentry;
    return shown !== undefined && shown === walk(root, source, "follow")?.dentry;
  }

  #diskFilesystems(): Superblock[] {
    return [this.#rootDisk, ...this.disks.values()].flatMap((disk) => disk.filesystem ?? []);
  }
}

/** Makes an empty file system on a disk, whatever was there. */
export function format(disk: Disk, fsType: string): void {
  disk.garbage = false;
  disk.cutOff = false;
  disk.filesystem = new Superblock({ device: disk.number, fsType, source: disk.name, options: [], disk });
}

function forgetMounts(dentry: Dentry): void {
  dentry.mountedOn.clear();
  dentry.shownBy.clear();
  for (const child of dentry.children.values()) forgetMounts(child);
}
