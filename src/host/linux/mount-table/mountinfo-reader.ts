import type { Compared, MountReader } from "../../mount-table/mount-reader.ts";
import { MountTable } from "../../mount-table/mount-table.ts";
import { type MountEntry, sameList } from "../../mount-table/mountinfo.ts";
import { emptyText, parseAfter } from "../../mount-table/mountinfo-text.ts";
import type { OptionLists } from "../../mount-table/option-lists.ts";
import type { MountinfoFile } from "./mountinfo-file.ts";

/** What is asked of an open mountinfo. */
type MountinfoText = Pick<MountinfoFile, "hasChanged" | "read"> & Disposable;

/**
 * Keeps a mount table by reading the text and comparing it with the last, where the kernel has nothing better. It does
 * not tell a mount from another one that came into its place with its id.
 */
export class MountinfoReader implements MountReader {
  readonly tier = "mountinfo";
  readonly events = undefined;
  readonly overflows = 0;
  optionChanges = 0;
  readonly suspect = false;
  readonly #mountinfo: MountinfoText;
  readonly #lists: OptionLists;
  #parsed = emptyText;
  #table: MountTable | undefined;
  /**
   * The table is not what the kernel has told of: a change was told once, and reading the text has not succeeded since.
   */
  #stale = true;

  constructor(mountinfo: MountinfoText, lists: OptionLists) {
    this.#mountinfo = mountinfo;
    this.#lists = lists;
  }

  read(): MountTable {
    if (this.#mountinfo.hasChanged()) this.#stale = true;
    return this.#table === undefined || this.#stale ? this.#readText() : this.#table;
  }

  compare(): Compared {
    const before = this.read();
    const after = this.#readText();
    const found = after.changesSince(before) ?? after.entries;
    return { found: found.map(({ point }) => point), wrong: [] };
  }

  /** Options that we change are told of like all others. */
  recheck(): void {}

  [Symbol.dispose](): void {
    this.#mountinfo[Symbol.dispose]();
  }

  #readText(): MountTable {
    this.#stale = true;
    this.#parsed = parseAfter(this.#parsed, this.#mountinfo.read(), this.#lists);
    const before = this.#table;
    const after = (before ?? new MountTable([])).replaced(this.#parsed.entries);
    const changes = before === undefined ? [] : (after.changesSince(before) ?? []);
    if (changes.some(({ id }) => otherOptions(before?.byID(id), after.byID(id)))) this.optionChanges += 1;
    this.#table = after;
    this.#stale = false;
    return after;
  }
}

function otherOptions(was: MountEntry | undefined, is: MountEntry | undefined): boolean {
  if (was === undefined || is === undefined) return false;
  return !sameList(was.options, is.options) || !sameList(was.superOptions, is.superOptions);
}
