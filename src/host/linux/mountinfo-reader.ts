import type { Compared, MountReader } from "../mount-reader.ts";
import { MountTable } from "../mount-table.ts";
import { emptyText, parseAfter } from "../mountinfo-text.ts";
import type { OptionLists } from "../option-lists.ts";
import type { MountinfoFile } from "./mountinfo-file.ts";

/**
 * Keeps a mount table by reading the text and comparing it with the last, where the kernel has nothing better. It does not
 * tell a mount from another one that came into its place with its id.
 */
export class MountinfoReader implements MountReader {
  readonly tier = "mountinfo";
  readonly events = undefined;
  readonly overflows = 0;
  optionChanges = 0;
  readonly suspect = false;
  readonly #mountinfo: MountinfoFile;
  readonly #lists: OptionLists;
  #parsed = emptyText;
  #table: MountTable | undefined;

  constructor(mountinfo: MountinfoFile, lists: OptionLists) {
    this.#mountinfo = mountinfo;
    this.#lists = lists;
  }

  read(): MountTable {
    if (this.#table !== undefined && !this.#mountinfo.hasChanged()) return this.#table;
    return this.#readText();
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
    this.#parsed = parseAfter(this.#parsed, this.#mountinfo.read(), this.#lists);
    const before = this.#table;
    const after = (before ?? new MountTable([])).replaced(this.#parsed.entries);
    const changes = before === undefined ? [] : (after.changesSince(before) ?? []);
    if (
      changes.some(({ id }) => {
        const [was, is] = [before?.byID(id), after.byID(id)];
        return (
          was !== undefined && is !== undefined && (was.options !== is.options || was.superOptions !== is.superOptions)
        );
      })
    )
      this.optionChanges += 1;
    this.#table = after;
    return after;
  }
}
