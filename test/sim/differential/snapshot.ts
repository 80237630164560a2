import type { MountEntry } from "../../../src/host/mount-table/mountinfo.ts";
import type { Naming } from "./carry-out.ts";
import type { DifferentialWorld, SeenFile } from "./differential-world.ts";
import type { Place } from "./operations.ts";

/** What a node looks like, in words that are the same for two nodes that are alike. */
export interface Snapshot extends Naming {
  readonly lines: readonly string[];
  /** Mount points, and paths of files and directories, as each namespace has them. */
  readonly points: ReadonlyMap<Place, readonly string[]>;
  readonly paths: ReadonlyMap<Place, readonly string[]>;
}

const places = ["host", "agent", "container"] as const;
/** Options of a file system that were asked for; the kernel adds others of its own. */
const toldOptions = /^(?:ro|rw|size=.*|mode=.*)$/;

/** Since when mounts were seen, for one world and one namespace: by their ids. */
export type Ages = Map<string, ReadonlyMap<number, number>>;

/** Ids, devices and peer groups get the numbers in which they come up, the same in all namespaces. */
export function snapshot(world: DifferentialWorld, seen: readonly Place[], ages: Ages, step: number): Snapshot {
  const mounts = new Numbers("mount ");
  const devices = new Numbers("device ");
  const groups = new Numbers("");
  const lines: string[] = [];
  const points = new Map<Place, readonly string[]>();
  const paths = new Map<Place, readonly string[]>();
  for (const place of places) {
    if (!seen.includes(place)) continue;
    const table = world.table(place);
    if (table === undefined) {
      ages.delete(place);
      continue;
    }
    const ordered = byKey(table);
    for (const entry of ordered) mounts.of(entry.id);
    for (const entry of ordered) {
      lines.push(`${place}: ${describe(entry, new Set(table.map(({ id }) => id)), { mounts, devices, groups })}`);
    }
    const before = ages.get(place);
    const now = new Map(table.map(({ id }) => [id, before?.get(id) ?? step]));
    ages.set(place, now);
    const since = [...now.values()];
    if (since.some((age, index) => age < (since[index - 1] ?? 0))) lines.push(`${place}: not the oldest first`);
    if (world.wasTold(place)) lines.push(`${place}: told of a change`);
    points.set(
      place,
      table.map(({ point }) => point),
    );
    if (place === "container") continue;
    const files = world.files(place);
    paths.set(
      place,
      files.map(({ path }) => path),
    );
    for (const file of shown(files)) lines.push(`${place}: ${file}`);
  }
  return { lines, points, paths, mount: (id) => mounts.of(id), device: (number) => devices.of(number) };
}

function describe(
  entry: MountEntry,
  ids: ReadonlySet<number>,
  { mounts, devices, groups }: { mounts: Numbers; devices: Numbers; groups: Numbers },
): string {
  const { id, parent, device, root, point, options, shared, master, source, superOptions } = entry;
  return [
    mounts.of(id),
    `on ${parent !== id && ids.has(parent) ? mounts.of(parent) : "nothing"}`,
    devices.of(device),
    withoutTrash(root).replace(/[^/]+\/\/deleted$/, "…//deleted"), // the product renames what it removes
    withoutTrash(point),
    options.join(),
    shared === undefined ? "" : `shared:${groups.of(shared)}`,
    master === undefined ? "" : `master:${groups.of(master)}`,
    source,
    source.startsWith("volume-")
      ? superOptions
          .filter((option) => toldOptions.test(option))
          .sort()
          .join()
      : "",
  ]
    .filter((word) => word !== "")
    .join(" ");
}

/** Files by their paths; what the atomic writer keeps behind its links is shown where the links are. */
function shown(files: readonly SeenFile[]): string[] {
  return files
    .filter(({ path }) => !/\/\.\.|\/trash\//.test(path))
    .map(({ path, kind, mode, content }) => `${path} ${kind} ${mode.toString(8)} ${JSON.stringify(content)}`)
    .sort();
}

/** What lies in the trash has names that only the product knows. */
function withoutTrash(path: string): string {
  return path.replace(/\/trash\/.*/, "/trash/…");
}

/**
 * By where they are: of the mounts that come about at once, by propagation, the order is not to be told from the
 * outside.
 */
function byKey(table: readonly MountEntry[]): MountEntry[] {
  const byID = new Map(table.map((entry) => [entry.id, entry]));
  const keys = new Map<MountEntry, string>();
  const keyOf = (entry: MountEntry): string => {
    const known = keys.get(entry);
    if (known !== undefined) return known;
    const parent = entry.parent === entry.id ? undefined : byID.get(entry.parent);
    const key = parent === undefined ? entry.point : `${keyOf(parent)} ${entry.point}`;
    keys.set(entry, key);
    return key;
  };
  return [...table].sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
}

class Numbers {
  readonly #prefix: string;
  readonly #known = new Map<number | string, string>();

  constructor(prefix: string) {
    this.#prefix = prefix;
  }

  of(number: number | string): string {
    const known = this.#known.get(number);
    if (known !== undefined) return known;
    const name = `${this.#prefix}${this.#known.size + 1}`;
    this.#known.set(number, name);
    return name;
  }
}
