import type { Compared, MountReader } from "../../../../src/host/mount-table/mount-reader.ts";
import { MountTable } from "../../../../src/host/mount-table/mount-table.ts";
import type { MountTier } from "../../../../src/host/mount-table/mount-table-source.ts";
import { WatchedMountTable } from "../../../../src/host/mount-table/watched-mount-table.ts";
import { entry } from "../../../lib/builders/mount-entries.ts";
import { virtualSystem } from "../../kube/virtual-system.ts";

const allTiers: readonly MountTier[] = ["fanotify", "mountinfo"];

/** A reader that tells what it is told to. */
export class FakeReader implements MountReader {
  readonly tier: MountTier;
  events = undefined;
  overflows = 0;
  optionChanges = 0;
  suspect = false;
  closed = false;
  compared = 0;
  table = new MountTable([entry({ id: 1, uniqueID: 1, point: "/" })]);
  /** What is really mounted: compare() takes it over. */
  truth = this.table;
  wrong: readonly string[] = [];
  /** What the next comparisons find wrong, before `wrong` counts. */
  wrongOnce: (readonly string[])[] = [];
  failing = false;

  constructor(tier: MountTier) {
    this.tier = tier;
  }

  read(): MountTable {
    if (this.failing) throw new Error("EIO");
    return this.table;
  }

  compare(): Compared {
    if (this.failing) throw new Error("EIO");
    this.compared += 1;
    this.suspect = false;
    const found = this.truth.changesSince(this.table) ?? [];
    this.table = this.truth;
    return { found: found.map(({ point }) => point), wrong: this.wrongOnce.shift() ?? this.wrong };
  }

  recheck(): void {}

  /** Something is mounted, and nobody is told. */
  mount(id: number): void {
    this.truth = this.truth.updated(new Map([[id, entry({ id, uniqueID: id, point: `/${id}` })]]));
  }

  [Symbol.dispose](): void {
    this.closed = true;
  }
}

/** A table whose ways of being kept are fakes, those of `given.missing` not to be had. */
export function kept(
  given: { missing?: readonly MountTier[]; tiers?: readonly MountTier[]; onOptions?: () => void } = {},
) {
  const system = virtualSystem();
  const readers: FakeReader[] = [];
  const wakes: { reader: MountReader; onChange: () => void; cancelled: boolean }[] = [];
  const missing = new Set(given.missing);
  const table = new WatchedMountTable({
    system,
    name: "self",
    tiers: given.tiers ?? allTiers,
    ...(given.onOptions && { onOptions: given.onOptions }),
    open(tier) {
      if (missing.has(tier)) throw new Error("ENOSYS");
      const reader = new FakeReader(tier);
      readers.push(reader);
      return reader;
    },
    wake(reader, onChange) {
      const wake = { reader, onChange, cancelled: false };
      wakes.push(wake);
      return () => {
        wake.cancelled = true;
      };
    },
  });
  const reader = (): FakeReader => {
    const last = readers.at(-1);
    if (last === undefined) throw new Error("nothing was opened");
    return last;
  };
  return { table, system, reader, readers, missing, wakes, wake: () => wakes.at(-1)?.onChange() };
}
