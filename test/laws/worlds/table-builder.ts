import { type MountIdentity, MountTable } from "../../../src/host/mount-table/mount-table.ts";
import type { MountEntry } from "../../../src/host/mount-table/mountinfo.ts";
import type { MountAttributes } from "../../../src/host/ports/types.ts";
import { optionsOf } from "../../lib/builders/mount-entries.ts";

/** What is mounted, and with which flags. */
export interface Mounted {
  readonly identity: MountIdentity;
  readonly fsType: string;
  readonly source: string;
  readonly attributes: MountAttributes;
  /** Whether the file system itself is read-only. */
  readonly frozen?: boolean;
}

/** Mounts one after the other, each on top of whatever a lookup of its mount point finds, as the kernel does it. */
export class TableBuilder {
  readonly #entries: MountEntry[] = [];
  readonly #shared: boolean;
  #id = 10;

  /** @param shared whether what is mounted becomes a member of a peer group of its own */
  constructor(root: Mounted, shared: boolean) {
    this.#shared = shared;
    this.#entries.push(entryOf(root, { id: 1, parent: 0, point: "/", ...(shared && { shared: 1 }) }));
  }

  /** @returns the mount id */
  mount(point: string, mounted: Mounted): number {
    const parent = this.table().covering(point)?.id ?? 1;
    const id = this.#id++;
    this.#entries.push(entryOf(mounted, { id, parent, point, ...(this.#shared && { shared: 1000 + id }) }));
    return id;
  }

  table(): MountTable {
    return new MountTable(this.#entries);
  }
}

function entryOf(mounted: Mounted, place: Pick<MountEntry, "id" | "parent" | "point" | "shared">): MountEntry {
  const { identity, fsType, source, attributes, frozen = false } = mounted;
  const { device, root } = identity;
  const superOptions = [frozen ? "ro" : "rw"];
  return { ...place, device, root, fsType, source, options: optionsOf(attributes), superOptions };
}

/** What somebody else has mounted, each time another file system. */
export function foreign(number: number): Mounted {
  const source = `foreign-${number}`;
  const identity = { device: `0:${200 + number}`, root: "/", source };
  return { identity, fsType: "tmpfs", source, attributes: plain };
}

export const plain: MountAttributes = {
  readOnly: false,
  nosuid: false,
  nodev: false,
  noexec: false,
  nosymfollow: false,
  nodiratime: false,
  atime: "relatime",
};
