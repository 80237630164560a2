import { MountTable } from "../../mount-table/mount-table.ts";
import { type MountEntry, sameEntry } from "../../mount-table/mountinfo.ts";
import { parseLinesOf } from "../../mount-table/mountinfo-text.ts";
import type { OptionLists } from "../../mount-table/option-lists.ts";
import type { MountQueries } from "../syscall/mount-calls.ts";
import { decodeStatmount, statmountMask } from "../syscall/statmount.ts";
import type { MountinfoFile } from "./mountinfo-file.ts";

/** Dependencies of reading mounts by statmount(2). */
export interface StatmountTableDeps {
  readonly calls: Pick<MountQueries, "statmount">;
  /** For what statmount does not tell of a mount. */
  readonly mountinfo: Pick<MountinfoFile, "read">;
  /** Id of the mount namespace; 0: our own. */
  readonly namespace: bigint;
  readonly lists: OptionLists;
}

/** Of a mount that mountinfo shows in another way: the root that statmount tells, and what mountinfo shows. */
interface Shown {
  readonly statedRoot: string;
  readonly root: string;
  readonly source: string;
}

type Stated = MountEntry & { readonly uniqueID: number };

/** What asking about one mount has changed in the table. */
export interface Change {
  readonly before: Stated | undefined;
  readonly after: Stated | undefined;
}

/** The mounts of a namespace, each as the kernel stated it when it was asked about it last (statmount(2)). */
export class StatmountTable {
  readonly #deps: StatmountTableDeps;
  readonly #mounts = new Map<number, Stated>();
  readonly #shown = new Map<number, Shown>();
  #table = new MountTable([]);

  constructor(deps: StatmountTableDeps) {
    this.#deps = deps;
  }

  get table(): MountTable {
    return this.#table;
  }

  /** The share of mounts about which mountinfo has to be asked. */
  get incomplete(): number {
    return this.#shown.size / Math.max(1, this.#mounts.size);
  }

  /** Unique ids of those whose options change with a mount's, or with its file system's. */
  sharing(id: number, of: "mount" | "filesystem"): readonly number[] {
    const mount = this.#table.byID(id);
    if (mount === undefined) return [];
    const same = of === "mount" && mount.uniqueID !== undefined ? [mount] : this.#table.ofDevice(mount.device);
    return same.flatMap(({ uniqueID }) => uniqueID ?? []);
  }

  /** Unique ids of mounts that are not as the table has them, by a text and a list of ids: mountinfo is asked anew. */
  differing(lines: readonly MountEntry[], listed: ReadonlySet<number>): Set<number> {
    const differing = new Set<number>();
    for (const id of listed) if (!this.#mounts.has(id)) differing.add(id);
    const shown = new Set<number>();
    for (const line of lines) {
      const uniqueID = this.#table.byID(line.id)?.uniqueID;
      if (uniqueID === undefined) continue;
      shown.add(uniqueID);
      if (!this.isAs(line)) {
        differing.add(uniqueID);
        this.#shown.delete(uniqueID);
      }
    }
    for (const id of this.#mounts.keys()) if (!listed.has(id) || !shown.has(id)) differing.add(id);
    return differing;
  }

  /** Whether the table has a mount as a line of mountinfo does. */
  isAs(line: MountEntry): boolean {
    const mount = this.#table.byID(line.id);
    return mount?.uniqueID !== undefined && sameEntry({ ...line, uniqueID: mount.uniqueID }, mount);
  }

  /**
   * Asks about mounts, and about those whose line may change with theirs though nobody tells: what is mounted on them,
   * whose path changes when they move, and whose parent when they go from beneath it; what is on their mount point,
   * whose parent changes when they come beneath it (propagation, move_mount(2) with MOVE_MOUNT_BENEATH); and what
   * receives propagation from them, which has another master when the last of a peer group goes.
   */
  ask(ids: ReadonlySet<number>): readonly Change[] {
    const changes: Change[] = [];
    const unshown: Stated[] = [];
    const todo = [...ids];
    const asked = new Set<number>();
    const near = (mounts: readonly MountEntry[]) => {
      for (const { uniqueID } of mounts) if (uniqueID !== undefined && !asked.has(uniqueID)) todo.push(uniqueID);
    };
    for (let id = todo.pop(); id !== undefined; id = todo.pop()) {
      if (asked.has(id)) continue;
      asked.add(id);
      const before = this.#mounts.get(id);
      const after = this.#stat(id, unshown);
      if (before === undefined ? after === undefined : after !== undefined && sameEntry(before, after)) continue;
      changes.push({ before, after });
      if (before !== undefined) {
        near(this.#table.childrenOf(before.id));
        if (before.shared !== undefined) near(this.#table.slaves(before.shared));
      }
      if (after !== undefined) near(this.#table.layers(after.point));
    }
    const complete = unshown.length === 0 ? changes : this.#completed(changes, unshown);
    this.#apply(complete);
    return complete;
  }

  #stat(id: number, unshown: Stated[]): Stated | undefined {
    const { calls, namespace, lists } = this.#deps;
    const buffer = calls.statmount(id, statmountMask, namespace);
    const decoded = buffer && decodeStatmount(buffer, lists);
    if (decoded === undefined) return undefined;
    const { entry } = decoded;
    if (decoded.vague === undefined) return entry;
    const known = this.#shown.get(id);
    if (known?.statedRoot === entry.root) return { ...entry, root: known.root, source: known.source };
    unshown.push(entry);
    return entry;
  }

  /** Takes what only mountinfo knows from there. */
  #completed(changes: readonly Change[], unshown: readonly Stated[]): readonly Change[] {
    const { mountinfo, lists } = this.#deps;
    const ids = unshown.map(({ id }) => id);
    const lines = parseLinesOf(mountinfo.read(), ids, lists);
    for (const { id, uniqueID, root } of unshown) {
      const line = lines.get(id);
      if (line !== undefined) this.#shown.set(uniqueID, { statedRoot: root, root: line.root, source: line.source });
    }
    return changes.map(({ before, after }) => {
      const shown = after && this.#shown.get(after.uniqueID);
      if (after === undefined || shown === undefined) return { before, after };
      return { before, after: { ...after, root: shown.root, source: shown.source } };
    });
  }

  #apply(changes: readonly Change[]): void {
    const byID = new Map<number, MountEntry | undefined>();
    for (const { before, after } of changes) {
      if (before !== undefined) byID.set(before.id, undefined);
      if (before !== undefined && after === undefined) {
        this.#mounts.delete(before.uniqueID);
        this.#shown.delete(before.uniqueID);
      }
      if (after !== undefined) this.#mounts.set(after.uniqueID, after);
    }
    // After all that went: an id may be in use again.
    for (const { after } of changes) if (after !== undefined) byID.set(after.id, after);
    this.#table = this.#table.updated(byID);
  }
}
