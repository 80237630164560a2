import { crc32 } from "node:zlib";
import type { Clock } from "../../ports.ts";
import { type Compared, type MountReader, restFactor } from "../mount-reader.ts";
import { MountTable } from "../mount-table.ts";
import { differenceOf, type MountEntry, parseMountinfo, sameEntry } from "../mountinfo.ts";
import { parseLinesOf } from "../mountinfo-text.ts";
import type { OptionLists } from "../option-lists.ts";
import type { Announcer } from "./mount-announcers.ts";
import type { MountCalls } from "./mount-calls.ts";
import type { MountinfoFile } from "./mountinfo-file.ts";
import { decodeStatmount, statmountMask } from "./statmount.ts";

export interface StatmountReaderDeps {
  readonly clock: Pick<Clock, "monotonic">;
  readonly calls: Pick<MountCalls, "statmount" | "listmount">;
  readonly announcer: Announcer;
  /** Another than the announcer's: each tells of a change once. */
  readonly mountinfo: Pick<MountinfoFile, "read">;
  /** Id of the mount namespace; 0: our own. */
  readonly namespace: bigint;
  readonly lists: OptionLists;
  readonly close: () => void;
}

interface Shown {
  readonly statedRoot: string;
  readonly root: string;
  readonly source: string;
}

type Stated = MountEntry & { readonly uniqueID: number };

interface Change {
  readonly before: Stated | undefined;
  readonly after: Stated | undefined;
}

/**
 * Keeps a mount table by asking the kernel about each mount that something has happened to, by its unique id: the cost
 * of a change is the same however many mounts there are.
 */
export class StatmountReader implements MountReader {
  suspect = false;
  overflows = 0;
  optionChanges = 0;
  readonly #deps: StatmountReaderDeps;
  readonly #mounts = new Map<number, Stated>();
  /** Of mounts that mountinfo shows in another way: the root that statmount tells, and what mountinfo shows. */
  readonly #shown = new Map<number, Shown>();
  readonly #recheck = new Set<number>();
  #table = new MountTable([]);
  /** The last table that was what mountinfo showed, and the checksum of that text. */
  #agreed: { readonly table: MountTable; readonly digest: number } | undefined;
  /** What was told is not in the table: it is told once, and taking it has not succeeded since. */
  #stale = true;
  /** Options have changed, and it is too soon to compare. */
  #postponed = false;
  /** Not before then, by the monotonic clock, is everything compared because options have changed. */
  #restUntil = 0;

  constructor(deps: StatmountReaderDeps) {
    this.#deps = deps;
  }

  get tier() {
    return this.#deps.announcer.tier;
  }

  /** The share of mounts about which mountinfo has to be asked. */
  get incomplete(): number {
    return this.#shown.size / Math.max(1, this.#mounts.size);
  }

  get events() {
    return this.#deps.announcer.events;
  }

  read(): MountTable {
    if (this.#stale) this.compare();
    this.#stale = true;
    const { ids, other, maybeOther, overflow } = this.#deps.announcer.take(this.#mounts);
    const expected = this.#recheck.size > 0; // what the caller has changed is what the kernel may be telling of
    if (overflow) this.overflows += 1;
    if (other && !expected) this.optionChanges += 1;
    this.#postponed ||= other && !expected;
    const rested = this.#deps.clock.monotonic() >= this.#restUntil; // anybody may remount in a loop
    if (overflow || (this.#postponed && rested)) this.compare();
    else if (other || maybeOther) this.suspect = true;
    if (ids.size > 0 || expected) this.#ask(new Set([...ids, ...this.#recheck]));
    this.#recheck.clear();
    this.#stale = false;
    return this.#table;
  }

  recheck(id: number, of: "mount" | "filesystem"): void {
    const mount = this.#table.byID(id);
    if (mount === undefined) return;
    if (of === "mount" && mount.uniqueID !== undefined) this.#recheck.add(mount.uniqueID);
    else
      for (const { uniqueID } of this.#table.ofDevice(mount.device))
        if (uniqueID !== undefined) this.#recheck.add(uniqueID);
  }

  compare(): Compared {
    const { clock } = this.#deps;
    const begun = clock.monotonic();
    this.#stale = true;
    const compared = this.#compare();
    this.#stale = false;
    this.#postponed = false;
    this.#restUntil = clock.monotonic() + restFactor * (clock.monotonic() - begun);
    return compared;
  }

  #compare(): Compared {
    const { calls, announcer, mountinfo, namespace, lists } = this.#deps;
    const first = announcer.take(this.#mounts);
    this.#ask(first.ids);
    const text = mountinfo.read();
    const digest = crc32(text);
    if (first.overflow) this.overflows += 1;
    if (this.#agreed?.table === this.#table && this.#agreed.digest === digest) {
      this.suspect = false;
      return { found: [], wrong: [] };
    }
    const lines = parseMountinfo(text.toString("utf8"), lists);
    const listed = new Set(calls.listmount(namespace));
    // What happened while the text was read is asked about, and is not held against anybody.
    const meanwhile = announcer.take(this.#mounts);
    const differing = this.#differing(lines, listed);
    const changes = this.#ask(new Set([...differing, ...meanwhile.ids]));
    const found = changes.filter(({ before, after }) => !meanwhile.ids.has((before ?? after)?.uniqueID ?? 0));
    const late = announcer.take(this.#mounts);
    const news = [meanwhile, late];
    const quiet = news.every(({ ids, other, overflow }) => ids.size === 0 && !other && !overflow);
    const wrong = quiet && differing.size > 0 ? lines.filter((line) => !this.#isAs(line)) : [];
    if (quiet && wrong.length === 0) this.#agreed = { table: this.#table, digest };
    this.#ask(late.ids);
    this.overflows += news.filter(({ overflow }) => overflow).length;
    this.suspect = !quiet;
    return { found: found.map(pointOf), wrong: wrong.map((line) => differenceOf(line, this.#table.byID(line.id))) };
  }

  [Symbol.dispose](): void {
    this.#deps.close();
  }

  /** Unique ids of mounts that are not as the table has them, by a text and a list of ids. */
  #differing(lines: readonly MountEntry[], listed: ReadonlySet<number>): Set<number> {
    const differing = new Set<number>();
    for (const id of listed) if (!this.#mounts.has(id)) differing.add(id);
    const shown = new Set<number>();
    for (const line of lines) {
      const uniqueID = this.#table.byID(line.id)?.uniqueID;
      if (uniqueID === undefined) continue;
      shown.add(uniqueID);
      if (!this.#isAs(line)) {
        differing.add(uniqueID);
        this.#shown.delete(uniqueID);
      }
    }
    for (const id of this.#mounts.keys()) if (!listed.has(id) || !shown.has(id)) differing.add(id);
    return differing;
  }

  #isAs(line: MountEntry): boolean {
    const mount = this.#table.byID(line.id);
    return mount?.uniqueID !== undefined && sameEntry({ ...line, uniqueID: mount.uniqueID }, mount);
  }

  /**
   * Asks about mounts, and about those whose line may change with theirs though nobody tells: what is mounted on them,
   * whose path changes when they move, and whose parent when they go from beneath it; what is on their mount point, whose
   * parent changes when they come beneath it (propagation, move_mount(2) with MOVE_MOUNT_BENEATH); and what receives
   * propagation from them, which has another master when the last of a peer group goes.
   */
  #ask(ids: ReadonlySet<number>): readonly Change[] {
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
    if (decoded.complete) return entry;
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

function pointOf({ before, after }: Change): string {
  return (after ?? before)?.point ?? "";
}
