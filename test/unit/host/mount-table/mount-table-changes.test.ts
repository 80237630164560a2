import { expect } from "chai";
import fc from "fast-check";
import { MountTable } from "../../../../src/host/mount-table/mount-table.ts";
import type { MountEntry } from "../../../../src/host/mount-table/mountinfo.ts";
import { entry } from "../../../lib/builders/mount-entries.ts";

/** So many that indexes are made anew in between. */
const lastID = 80;
const points = ["/", "/a", "/a/b", "/a/b/c", "/d"] as const;

/** A step of a table: an id that comes, changes or goes. */
const step = fc.record({
  id: fc.integer({ min: 1, max: lastID }),
  gone: fc.boolean(),
  point: fc.constantFrom(...points),
  parent: fc.integer({ min: 1, max: lastID }),
  shared: fc.option(fc.integer({ min: 1, max: 3 }), { nil: undefined }),
  master: fc.option(fc.integer({ min: 1, max: 3 }), { nil: undefined }),
  device: fc.constantFrom("0:1", "0:2", "8:1"),
  again: fc.boolean(),
});

type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

/** What every way to ask a table says. */
function answers(table: MountTable) {
  return {
    entries: table.entries,
    size: table.size,
    points: points.map((point) => ({
      layers: table.layers(point),
      crossed: table.crossed(`${point}/x`),
      at: table.at(point),
      beneath: table.beneath(point),
    })),
    ids: Array.from({ length: lastID + 1 }, (_, id) => [table.byID(id), table.childrenOf(id)]),
    groups: [1, 2, 3].map((group) => [table.peers(group), table.slaves(group)]),
    devices: ["0:1", "0:2", "8:1"].map((device) => table.ofDevice(device)),
  };
}

/** The mounts after a batch of steps; an id that is used again is another mount. */
function changed(mounts: ReadonlyMap<number, MountEntry>, batch: readonly Step[], nextUnique: () => number) {
  const next = new Map(mounts);
  for (const { id, gone, again, shared, master, ...rest } of batch) {
    const uniqueID = again ? nextUnique() : (next.get(id)?.uniqueID ?? nextUnique());
    if (gone) next.delete(id);
    else
      next.set(
        id,
        entry({
          id,
          uniqueID,
          ...rest,
          ...(shared !== undefined && { shared }),
          ...(master !== undefined && { master }),
        }),
      );
  }
  return next;
}

function byAge(mounts: ReadonlyMap<number, MountEntry>): MountEntry[] {
  return [...mounts.values()].sort((a, b) => (a.uniqueID ?? 0) - (b.uniqueID ?? 0));
}

/** A table to begin with, whose indexes are shared for a while. */
const started: ReadonlyMap<number, MountEntry> = new Map(
  Array.from({ length: lastID / 2 }, (_, id) => [
    id,
    entry({ id, uniqueID: id, parent: 0, point: points[id % 5] ?? "/" }),
  ]),
);

describe("MountTable that came from another", () => {
  const batches = fc.array(fc.array(step, { maxLength: 12 }), { minLength: 1, maxLength: 40 });

  it("updated() answers as a table that was made anew, whatever changed before", () => {
    fc.assert(
      fc.property(batches, (all) => {
        let unique = 100;
        let mounts = started;
        let table = new MountTable(byAge(started));
        for (const batch of all) {
          mounts = changed(mounts, batch, () => ++unique);
          table = table.updated(new Map(batch.map(({ id }) => [id, mounts.get(id)])));
          expect(answers(table)).to.deep.equal(answers(new MountTable(byAge(mounts))));
        }
      }),
    );
  });

  it("replaced() answers as a table that was made anew, without unique ids too", () => {
    const without = ({ uniqueID: _none, ...rest }: MountEntry): MountEntry => rest;
    fc.assert(
      fc.property(batches, (all) => {
        let unique = 100;
        let mounts = started;
        let table = new MountTable(byAge(started).map(without));
        for (const batch of all) {
          mounts = changed(mounts, batch, () => ++unique);
          const entries = byAge(mounts).map(without);
          table = table.replaced(entries);
          expect(answers(table)).to.deep.equal(answers(new MountTable(entries)));
        }
      }),
    );
  });

  it("changesSince() names all that is in one table and not in the other", () => {
    fc.assert(
      fc.property(batches, (all) => {
        let unique = 100;
        let mounts = started;
        const tables = [new MountTable(byAge(started))];
        for (const batch of all) {
          mounts = changed(mounts, batch, () => ++unique);
          tables.push(
            tables.at(-1)?.updated(new Map(batch.map(({ id }) => [id, mounts.get(id)]))) ?? new MountTable([]),
          );
        }
        const last = tables.at(-1) ?? new MountTable([]);
        for (const earlier of tables) {
          const named = new Set(last.changesSince(earlier));
          const [old, now] = [new Set(earlier.entries), new Set(last.entries)];
          const differing = [...earlier.entries, ...last.entries].filter(
            (mount) => !(old.has(mount) && now.has(mount)),
          );
          expect(differing.filter((mount) => !named.has(mount))).to.deep.equal([]);
        }
      }),
      { numRuns: 30 },
    );
  });

  it("is the very same table if nothing differs", () => {
    const mount = entry({ id: 1, uniqueID: 7, point: "/" });
    const table = new MountTable([mount]);
    expect(table.updated(new Map([[1, { ...mount, options: [...mount.options] }]]))).to.equal(table);
    expect(table.updated(new Map([[2, undefined]]))).to.equal(table);
    expect(table.replaced([{ ...mount }])).to.equal(table);
    expect(table.changesSince(table)).to.deep.equal([]);
  });

  it("does not know what changed since a table of another source, a later one, or another branch", () => {
    const mount = entry({ id: 1, uniqueID: 7, point: "/" });
    const table = new MountTable([mount]);
    const next = table.updated(new Map([[2, entry({ id: 2, uniqueID: 8, point: "/a" })]]));
    const branch = table.updated(new Map([[3, entry({ id: 3, uniqueID: 9, point: "/b" })]]));
    expect(next.changesSince(table)?.map(({ id }) => id)).to.deep.equal([2]);
    expect(table.changesSince(next)).to.equal(undefined);
    expect(branch.changesSince(next)).to.equal(undefined);
    expect(branch.changesSince(table)).to.equal(undefined);
    expect(new MountTable([mount]).changesSince(table)).to.equal(undefined);
  });

  it("forgets what changed long ago", () => {
    const first = new MountTable([]);
    let table = first;
    for (let id = 1; id <= 1_025; id++)
      table = table.updated(new Map([[1, entry({ id: 1, uniqueID: id, point: "/" })]]));
    expect(table.changesSince(first)).to.equal(undefined);
  });
});
