import fc from "fast-check";
import { asMountPath } from "../../src/agent/model/identities.ts";
import type { StageRecord, TargetRecord } from "../../src/agent/model/volume-record.ts";
import type { MountEntry } from "../../src/host/mount-table/mountinfo.ts";
import { entry } from "../lib/builders/mount-entries.ts";
import { planned, prefix, record, targetRecord, volume, type World, wanted } from "../lib/builders/plan-world.ts";
import { law } from "./law.ts";

const directory = "/csi/key";
const shown = { device: "0:50", root: "/", source: "tmpfs" };
const other = { device: "0:51", root: "/" };
const names = ["a", "b"] as const;

/** What one target of a CSI volume may be like. */
const target = fc.record({
  wanted: fc.boolean(),
  recorded: fc.constantFrom("no", "asked", "published", "refuted"),
  published: fc.constantFrom("nothing", "same", "another", "stacked"),
  bound: fc.constantFrom("nothing", "same", "another"),
});

const worlds = fc.record({
  intent: fc.constantFrom("wanted", "deleted", "gone", "gone after it was deleted"),
  table: fc.constantFrom("read", "read", "read", "unreadable"),
  synced: fc.boolean(),
  stage: fc.constantFrom("asked", "ready", "ready, without a mount"),
  staged: fc.constantFrom("nothing", "same", "another"),
  targets: fc.tuple(target, target),
});
type Choice = typeof worlds extends fc.Arbitrary<infer T> ? T : never;

describe("volumes of CSI drivers: the laws", () => {
  law(
    "what a driver was asked for is in use, taken back before it is unstaged, and forgotten by its answer alone (L1, L2, L3, L8)",
    {
      worlds,
      runs: 4000,
      reaches: [
        "unstage",
        "unpublish",
        "publish",
        "stage",
        "nothing to do",
        "not yet unstaged",
        "published without a bind",
      ],
      check(choice, reached) {
        const { actualState, operation, pending } = planned(worldOf(choice));
        const recorded = choice.targets.filter(({ recorded }) => recorded !== "no");
        if (!actualState.inUse) throw new Error("what a driver may have staged does not count as in use");
        if (actualState.stage.truth === "absent")
          throw new Error("without the driver's word the stage is taken for absent");
        reached.count(operation?.kind ?? "nothing to do");
        reached.count(
          "published without a bind",
          recorded.some(({ bound }) => bound === "nothing"),
        );
        reached.count("not yet unstaged", operation?.kind === "unpublish" && recorded.length > 1);
        if (operation === undefined) return;
        if (operation.kind === "forget") throw new Error("forgotten while it is staged");
        if (choice.table === "unreadable") throw new Error(`${operation.kind} without a table`);
        if (operation.kind === "unstage" && recorded.length > 0) throw new Error("unstaged before it is taken back");
        const removes = operation.kind === "unpublish" || operation.kind === "unstage";
        if (removes && !choice.synced) throw new Error(`${operation.kind} before the intents were read`);
        if (removes && choice.intent === "gone")
          throw new Error(`${operation.kind}, and nobody has deleted the intent`);
        if (pending.length === 0) throw new Error(`${operation.kind} is not among what is left to do`);
      },
    },
  );

  law("a target counts as it should be only while its publish path does (L10)", {
    worlds: worlds.filter(({ intent, table }) => intent === "wanted" && table === "read"),
    runs: 2000,
    reaches: ["as it should be", "bound, and not published"],
    check(choice, reached) {
      const { actualState } = planned(worldOf(choice));
      choice.targets.forEach((of, index) => {
        const seen = actualState.targets.find(({ path }) => path === `${prefix}/${names[index]}`);
        if (seen === undefined || !of.wanted) return;
        const good = seen.truth === "mounted" && !seen.outdated;
        const proved = of.recorded === "published" && of.published === "same" && of.bound === "same";
        reached.count("as it should be", good);
        reached.count("bound, and not published", seen.truth === "mounted" && !proved);
        if (good !== proved) throw new Error(`${names[index]} is taken for ${good ? "good" : "bad"}`);
      });
    },
  });
});

function worldOf(choice: Choice): World {
  const source = { csi: { driver: "a.example", volumeHandle: "v" } };
  const grant = { id: "g", csi: { ...source.csi, accessMode: "ReadWriteOnce" as const } };
  const mounts = choice.targets.flatMap((of, index) => (of.wanted ? [{ path: `${prefix}/${names[index]}` }] : []));
  const deleting = choice.intent === "deleted";
  const intents = choice.intent.startsWith("gone") ? [] : [wanted({ source, grant, mounts, deleting })];
  const revoked = choice.intent === "gone after it was deleted" ? { revoked: true } : {};
  const targets = choice.targets.flatMap((of, index) => recordOf(of, names[index] ?? "a"));
  return {
    intents,
    records: [record({ name: volume, type: "csi", stage: stageOf(choice), targets, ...revoked })],
    mounts: choice.table === "unreadable" ? "unreadable" : mountsOf(choice),
    input: { synced: choice.synced },
  };
}

function stageOf({ stage }: Choice): StageRecord {
  const csi = {
    driver: "a.example",
    volumeHandle: "v",
    directory,
    needsUnstage: true,
    block: false,
    shown: [],
    calls: {},
  };
  const identity = stage === "ready" ? { identity: shown } : {};
  const path = `${directory}/staging`;
  return { kind: "csi", path, ready: stage !== "asked", options: [], fileKind: "directory", ...identity, csi };
}

function recordOf({ recorded }: Choice["targets"][number], name: string): TargetRecord[] {
  if (recorded === "no") return [];
  const known = recorded === "published" ? { identity: shown } : recorded === "refuted" ? { refuted: true } : {};
  const published = { path: `${directory}/mounts/${name}`, readOnly: false, ...known };
  const identity = recorded === "published" ? shown : { device: "", root: "" };
  const { mountID: _id, ...target } = targetRecord({ path: asMountPath(`${prefix}/${name}`), identity, published });
  return [target];
}

function mountsOf({ staged, targets }: Choice): MountEntry[] {
  const mounts: MountEntry[] = [];
  const add = (point: string, what: string) => {
    if (what === "nothing") return;
    const id = mounts.length + 10;
    mounts.push(entry({ id, point, ...(what === "another" ? other : shown) }));
    if (what === "stacked") mounts.push(entry({ id: id + 1, parent: id, point, ...other }));
  };
  add(`${directory}/staging`, staged);
  targets.forEach((of, index) => {
    add(`${directory}/mounts/${names[index]}`, of.published);
    add(`${prefix}/${names[index]}`, of.bound);
  });
  return mounts;
}
