import { crc32 } from "node:zlib";
import type { Clock } from "../../../ports.ts";
import { type Compared, type MountReader, restFactor } from "../../mount-table/mount-reader.ts";
import type { MountTable } from "../../mount-table/mount-table.ts";
import { differenceOf, parseMountinfo } from "../../mount-table/mountinfo.ts";
import type { MountQueries } from "../syscall/mount-calls.ts";
import type { Announcer } from "./mount-events.ts";
import type { MountinfoFile } from "./mountinfo-file.ts";
import { type Change, StatmountTable, type StatmountTableDeps } from "./statmount-table.ts";

/** Dependencies of keeping a mount table current by fanotify and statmount(2). */
export interface StatmountReaderDeps extends StatmountTableDeps {
  readonly clock: Pick<Clock, "monotonic">;
  readonly calls: Pick<MountQueries, "statmount" | "listmount">;
  readonly announcer: Announcer;
  /** Another than the announcer's: each tells of a change once. */
  readonly mountinfo: Pick<MountinfoFile, "read">;
  readonly close: () => void;
}

/**
 * Keeps a mount table by asking the kernel about each mount that something has happened to, by its unique id: the cost
 * of a change is the same however many mounts there are.
 */
export class StatmountReader implements MountReader {
  readonly tier = "fanotify";
  suspect = false;
  overflows = 0;
  optionChanges = 0;
  readonly #deps: StatmountReaderDeps;
  readonly #mounts: StatmountTable;
  readonly #recheck = new Set<number>();
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
    this.#mounts = new StatmountTable(deps);
  }

  /** The share of mounts about which mountinfo has to be asked. */
  get incomplete(): number {
    return this.#mounts.incomplete;
  }

  get events() {
    return this.#deps.announcer.events;
  }

  read(): MountTable {
    if (this.#stale) this.compare();
    this.#stale = true;
    const { ids, other, maybeOther, overflow } = this.#deps.announcer.take();
    const expected = this.#recheck.size > 0; // what the caller has changed is what the kernel may be telling of
    if (overflow) this.overflows += 1;
    if (other && !expected) this.optionChanges += 1;
    this.#postponed ||= other && !expected;
    const rested = this.#deps.clock.monotonic() >= this.#restUntil; // anybody may remount in a loop
    if (overflow || (this.#postponed && rested)) this.compare();
    else if (other || maybeOther) this.suspect = true;
    if (ids.size > 0 || expected) this.#mounts.ask(new Set([...ids, ...this.#recheck]));
    this.#recheck.clear();
    this.#stale = false;
    return this.#mounts.table;
  }

  recheck(id: number, of: "mount" | "filesystem"): void {
    for (const uniqueID of this.#mounts.sharing(id, of)) this.#recheck.add(uniqueID);
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
    const first = announcer.take();
    this.#mounts.ask(first.ids);
    const text = mountinfo.read();
    const digest = crc32(text);
    if (first.overflow) this.overflows += 1;
    if (this.#agreed?.table === this.#mounts.table && this.#agreed.digest === digest) {
      this.suspect = false;
      return { found: [], wrong: [] };
    }
    const lines = parseMountinfo(text.toString("utf8"), lists);
    const listed = new Set(calls.listmount(namespace));
    // What happened while the text was read is asked about, and is not held against anybody.
    const meanwhile = announcer.take();
    const differing = this.#mounts.differing(lines, listed);
    const changes = this.#mounts.ask(new Set([...differing, ...meanwhile.ids]));
    const found = changes.filter(({ before, after }) => !meanwhile.ids.has((before ?? after)?.uniqueID ?? 0));
    const late = announcer.take();
    const news = [meanwhile, late];
    const quiet = news.every(({ ids, other, overflow }) => ids.size === 0 && !other && !overflow);
    const wrong = quiet && differing.size > 0 ? lines.filter((line) => !this.#mounts.isAs(line)) : [];
    if (quiet && wrong.length === 0) this.#agreed = { table: this.#mounts.table, digest };
    this.#mounts.ask(late.ids);
    this.overflows += news.filter(({ overflow }) => overflow).length;
    this.suspect = !quiet;
    return {
      found: found.map(pointOf),
      wrong: wrong.map((line) => differenceOf(line, this.#mounts.table.byID(line.id))),
    };
  }

  [Symbol.dispose](): void {
    this.#deps.close();
  }
}

function pointOf({ before, after }: Change): string {
  return (after ?? before)?.point ?? "";
}
