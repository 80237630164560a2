import { Disk } from "../kernel/disk.ts";
import { makeIn } from "../kernel/files.ts";
import type { Kernel } from "../kernel/kernel.ts";
import type { Superblock } from "../kernel/superblock.ts";
import { format } from "../machine.ts";

/** What a CSI driver is like, on every node. */
export interface DriverKind {
  readonly name: string;
  /** Whether a volume must be attached to a node first (CSIDriver.spec.attachRequired). */
  readonly attach: boolean;
  readonly stageUnstage: boolean;
  readonly expand: boolean;
  /** Whether it refuses a call for a volume while another one runs, as the specification wants (ABORTED). */
  readonly serializes: boolean;
  /** Whether it asks to be called again for what it has published (CSIDriver.spec.requiresRepublish). */
  readonly requiresRepublish?: boolean;
  /** Whether it says how full a volume is. */
  readonly stats?: boolean;
  /** Whether it mounts again at each publish, over what is there. */
  readonly stacks?: boolean;
  /** CSIDriver.spec.fsGroupPolicy; that of a driver that wants its files left alone if not given. */
  readonly fsGroupPolicy?: "File" | "None";
  /** Whether it gives the files to a group itself (VOLUME_MOUNT_GROUP). */
  readonly mountGroup?: boolean;
  /** What the secrets of stage and publish must be; asked for none if not given. */
  readonly password?: string;
}

/** One volume of the storage system. What is in it outlives every node. */
export interface StoredVolume {
  readonly handle: string;
  readonly driver: DriverKind;
  /** Whether one node at a time may use it. */
  readonly singleNode: boolean;
  capacityBytes: number;
  /** The file system as the node that made it last has it. */
  filesystem: Superblock | undefined;
}

/**
 * A storage system that all nodes share: its volumes, and which node each is published to (ControllerPublishVolume).
 */
export class Storage {
  readonly volumes = new Map<string, StoredVolume>();
  readonly #published = new Map<string, Set<string>>();
  #devices = 0;

  add(handle: string, driver: DriverKind, options: { readonly singleNode?: boolean } = {}): StoredVolume {
    const { singleNode = true } = options;
    const volume: StoredVolume = { handle, driver, singleNode, capacityBytes: 1 << 30, filesystem: undefined };
    this.volumes.set(handle, volume);
    return volume;
  }

  publish(handle: string, node: string): void {
    this.#published.set(handle, (this.#published.get(handle) ?? new Set()).add(node));
  }

  unpublish(handle: string, node: string): void {
    this.#published.get(handle)?.delete(node);
  }

  nodesOf(handle: string): readonly string[] {
    return [...(this.#published.get(handle) ?? [])];
  }

  /** What ControllerPublishVolume tells the node side (publish_context). */
  publishContext(handle: string, node: string): { [key: string]: string } {
    return { device: `${handle} on ${node}` };
  }

  /**
   * The file system of a volume on the block device that it gets on a node, with all that was written to it anywhere.
   */
  filesystemOn(kernel: Kernel, volume: StoredVolume): Superblock {
    const disk = new Disk(`/dev/loop${this.#devices}`, `7:${this.#devices++}`);
    format(disk, "xfs");
    disk.sizeBytes = volume.capacityBytes;
    disk.filesystemBytes = volume.filesystem?.disk?.filesystemBytes ?? volume.capacityBytes;
    const root = kernel.diskRoot(disk);
    for (const { name, kind, mode, gid, content, maker } of volume.filesystem?.root.children.values() ?? []) {
      const made = kernel.as(maker, () => makeIn(kernel, root, name, kind, mode));
      Object.assign(made, { gid, content });
    }
    root.gid = volume.filesystem?.root.gid ?? 0;
    volume.filesystem = root.superblock;
    return root.superblock;
  }
}
