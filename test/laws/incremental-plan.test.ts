import { inspect, isDeepStrictEqual } from "node:util";
import fc from "fast-check";
import { asVolumeName, type VolumeName } from "../../src/agent/model/identities.ts";
import type { PlanInput } from "../../src/agent/model/plan-input.ts";
import type { SlowCall, StuckOperation } from "../../src/agent/model/stuck-operation.ts";
import type { Plan } from "../../src/agent/model/volume-plan.ts";
import type { VolumeRecord } from "../../src/agent/model/volume-record.ts";
import { Planner } from "../../src/agent/planner/incremental/incremental-planner.ts";
import type { MountEntry } from "../../src/host/mount-table/mountinfo.ts";
import type { RemoteMount } from "../../src/host/ports/servers.ts";
import { plan } from "../lib/builders/plan-whole.ts";
import { law } from "./law.ts";
import { buildWorld } from "./worlds/build.ts";
import type { WorldChoice } from "./worlds/choices.ts";
import { told } from "./worlds/evidence.ts";
import { worldChoices } from "./worlds/random-worlds.ts";

/** What of another world comes into the present one. Volumes are counted, and so are mounts. */
interface Step {
  readonly world: WorldChoice;
  readonly parts: (typeof parts)[number][];
  readonly volumes: readonly number[];
  readonly table: "same" | "all" | "one" | "without one" | "anew" | "unreadable";
  readonly mount: number;
  readonly nodeTable: "same" | "all" | "one";
  /** What hangs of the volumes from now on. */
  readonly hangs: keyof typeof hangs | "as before";
  readonly contents: boolean;
  /** Every delay is over. */
  readonly pardoned: boolean;
  /** What is on record of the volumes' targets is another mount. */
  readonly noted: boolean;
  readonly synced: boolean;
  readonly ms: number;
}

const server: RemoteMount = { point: "/far", fsType: "nfs", source: "far:/export" };
const hangs: { readonly [what: string]: StuckOperation | SlowCall | undefined } = {
  nothing: undefined,
  "a child": { pid: 7, abandoned: false },
  "a child of a server": { pid: 8, abandoned: false, waitsFor: server },
  "another child of it": { pid: 9, abandoned: false, waitsFor: server },
  "what was given up": { pid: 9, abandoned: true, waitsFor: server },
  "a driver": { driver: "disk.example", method: "NodeStageVolume" },
};

const parts = ["desired", "records", "observed", "pendingOperations", "failures"] as const;

const oneOfThem = fc.constantFrom(...parts.map((part) => [part]));
const step = fc.record<Step>({
  world: worldChoices,
  parts: fc.oneof(oneOfThem, fc.constant<Step["parts"]>([]), fc.subarray([...parts])),
  volumes: fc.subarray([0, 1, 2, 3]),
  table: fc.constantFrom("same", "same", "all", "one", "one", "without one", "anew", "unreadable"),
  mount: fc.nat(30),
  nodeTable: fc.constantFrom("same", "same", "all", "one"),
  hangs: fc.constantFrom("as before", "as before", ...Object.keys(hangs)),
  contents: fc.boolean(),
  pardoned: fc.constantFrom(false, false, true),
  noted: fc.constantFrom(false, false, true),
  synced: fc.constantFrom(false, false, false, true),
  ms: fc.constantFrom(0, 0, 1, 30_000, 60_001, 400_000),
});

describe("Planner", () => {
  law("says after each of many changes what plan() says of all there is, and names what it planned anew", {
    worlds: fc.record({ first: worldChoices, steps: fc.array(step, { minLength: 1, maxLength: 8 }) }),
    runs: 1500,
    reaches: [
      "some of several volumes planned anew",
      "nothing planned anew",
      "by a mount alone",
      "by the time alone",
      "by another volume",
      "a volume gone",
      "a node's table",
      "everything planned anew, and nothing found",
      "by what hangs alone",
      "what hangs on, not planned anew",
    ],
    check({ first, steps }, reached) {
      const planner = new Planner();
      let input = buildWorld(first).input;
      let before = compare(planner, input, undefined);
      for (const each of steps) {
        const next = changed(input, each);
        const rechecked = each.mount % 3 === 0;
        if (rechecked) planner.recheck();
        const now = compare(planner, next, before);
        const { size } = now.changed;
        reached.count("some of several volumes planned anew", size > 0 && size < now.volumes.size);
        reached.count("nothing planned anew", size === 0 && now.volumes.size > 0);
        const noPart = (each.parts.length === 0 && !each.noted) || each.volumes.length === 0;
        const still =
          noPart && !each.pardoned && !each.contents && next.synced === input.synced && each.nodeTable === "same";
        reached.count("by a mount alone", still && each.ms === 0 && each.table === "one" && size === 1);
        reached.count("by the time alone", still && next.table === input.table && each.ms > 0 && size > 0);
        reached.count("by what hangs alone", still && each.ms === 0 && each.table === "same" && size > 0);
        const hangsOn = each.hangs === "as before" && [...(next.stuckOperations?.keys() ?? [])];
        const isLeft = (name: VolumeName) => now.volumes.has(name) && !now.changed.has(name);
        reached.count("what hangs on, not planned anew", hangsOn !== false && hangsOn.some(isLeft));
        reached.count("by another volume", isNeighbour(input, next, now) && next.table === input.table);
        reached.count(
          "a volume gone",
          [...now.changed.keys()].some((name) => !now.volumes.has(name)),
        );
        reached.count("everything planned anew, and nothing found", rechecked && size < now.volumes.size);
        reached.count("a node's table", next.nodeTable !== undefined && next.nodeTable !== input.nodeTable);
        input = next;
        before = now;
      }
    },
  });
});

const deep = { depth: 5, breakLength: 200 };

type Said = Pick<Plan, "changed"> & { readonly volumes: Plan["volumes"] };

function compare(planner: Planner, input: PlanInput, before: Said | undefined): Said {
  const whole = plan(input);
  const { volumes, changed, operations, wakeAt, synced, unexplained = [] } = planner.plan(input);
  if (unexplained.length > 0) throw new Error(`nothing told that the plan of ${unexplained} is another one`);
  for (const [name, volume] of whole.volumes) {
    if (isDeepStrictEqual(volumes.get(name), volume)) continue;
    throw new Error(`${name} is ${inspect(volumes.get(name), deep)}, and as a whole ${inspect(volume, deep)}`);
  }
  if (volumes.size !== whole.volumes.size)
    throw new Error(`${volumes.size} volumes, and as a whole ${whole.volumes.size}`);
  if (!isDeepStrictEqual(new Set(operations), new Set(whole.operations))) {
    throw new Error(`begins ${told(operations)}, and as a whole ${told(whole.operations)}`);
  }
  if (wakeAt !== whole.wakeAt || synced !== whole.synced) throw new Error(`wakes at ${wakeAt}, not at ${whole.wakeAt}`);
  for (const name of new Set([...(before?.volumes.keys() ?? []), ...volumes.keys()])) {
    const was = before?.volumes.get(name);
    if (changed.has(name) ? changed.get(name) !== was : was !== volumes.get(name)) {
      throw new Error(`${name} is another one, and not said to be`);
    }
  }
  return { changed, volumes: new Map(volumes) };
}

/** The maps are changed in place, as those of the agent are. */
function changed(input: PlanInput, step: Step): PlanInput {
  const other = buildWorld(step.world).input;
  const names = [...other.desired.keys(), ...other.records.keys(), ...input.desired.keys()].sort();
  const taken = new Set(step.volumes.map((i) => [...new Set(names)][i] ?? asVolumeName("")));
  for (const part of step.parts) take(input[part], other[part], (key) => taken.has(asVolumeName(key)));
  if (step.noted) note(input.records as Map<VolumeName, VolumeRecord>, taken);
  if (step.pardoned) (input.failures as Map<VolumeName, unknown>).clear();
  return {
    ...input,
    now: input.now + step.ms,
    stuckOperations: hangingOf(input, step, taken),
    ...(step.contents && { contents: other.contents }),
    ...(step.synced && { synced: other.synced }),
    ...tablesOf(input, other, step),
  };
}

function take(
  from: ReadonlyMap<string, unknown>,
  other: ReadonlyMap<string, unknown>,
  isTaken: (key: string) => boolean,
): void {
  const map = from as Map<string, unknown>;
  for (const key of [...map.keys()]) if (isTaken(key)) map.delete(key);
  for (const [key, value] of other) if (isTaken(key)) map.set(key, value);
}

/** Another map each time, with other objects in it, as the agent makes them. */
function hangingOf(
  { stuckOperations }: PlanInput,
  { hangs: what }: Step,
  names: ReadonlySet<VolumeName>,
): NonNullable<PlanInput["stuckOperations"]> {
  const all = new Map([...(stuckOperations ?? [])].map(([name, known]) => [name, { ...known }]));
  if (what === "as before") return all;
  const one = hangs[what];
  for (const name of names) {
    if (one === undefined) all.delete(name);
    else all.set(name, { ...one });
  }
  return all;
}

/** The records of these volumes' targets come to speak of something else. */
function note(records: Map<VolumeName, VolumeRecord>, names: ReadonlySet<VolumeName>): void {
  for (const name of names) {
    const record = records.get(name);
    if (record === undefined) continue;
    const targets = record.targets.map(({ identity, ...target }) => ({
      ...target,
      identity: { ...identity, root: "/a" },
    }));
    records.set(name, { ...record, targets });
  }
}

function tablesOf(input: PlanInput, other: PlanInput, step: Step): Pick<PlanInput, "table" | "nodeTable"> {
  const { table, nodeTable } = input;
  const [there, onNode] = [other.table?.entries ?? [], other.nodeTable?.entries ?? []];
  const [entry, nodeEntry] = [there[step.mount % there.length], onNode[step.mount % onNode.length]];
  const readable = step.table === "unreadable" ? undefined : (table ?? other.table);
  const now = {
    same: () => readable,
    all: () => readable?.replaced(there),
    one: () => readable?.replaced(withEntry(readable.entries, entry)),
    "without one": () => readable?.replaced(without(readable.entries, step.mount)),
    anew: () => other.table,
    unreadable: () => undefined,
  }[step.table]();
  if (nodeTable === undefined) return { table: now };
  const node = {
    same: nodeTable,
    all: nodeTable.replaced(onNode),
    one: nodeTable.replaced(withEntry(nodeTable.entries, nodeEntry)),
  }[step.nodeTable];
  return { table: now, nodeTable: node };
}

function withEntry(entries: readonly MountEntry[], entry: MountEntry | undefined): readonly MountEntry[] {
  if (entry === undefined) return entries;
  const known = entries.some(({ id }) => id === entry.id);
  return known ? entries.map((each) => (each.id === entry.id ? entry : each)) : [...entries, entry];
}

function without(entries: readonly MountEntry[], at: number): readonly MountEntry[] {
  return entries.filter((_, i) => i !== 1 + (at % entries.length));
}

/** Whether a volume was planned anew of which nothing has changed but what another one claims. */
function isNeighbour(_before: PlanInput, { now }: PlanInput, { changed, volumes }: Said): boolean {
  return [...changed].some(([name, was]) => {
    const is = volumes.get(name);
    if (is === undefined || was === undefined || was.operation !== undefined || (was.retryAt ?? now + 1) <= now)
      return false;
    const same = is.desired === was.desired && is.record === was.record && is.running === was.running;
    return (
      same &&
      !isDeepStrictEqual(is.problems, was.problems) &&
      [...is.problems.targets.values()].some((p) => p.reason === "PathConflict")
    );
  });
}
