import type { IntentEntry } from "../../../src/agent/desired/intents.ts";
import type { Desired } from "../../../src/agent/model/desired.ts";
import type { Failure, Slot } from "../../../src/agent/model/failure.ts";
import { asIntentUID, asMountPath, type VolumeName } from "../../../src/agent/model/identities.ts";
import type { OperationKind } from "../../../src/agent/model/operation.ts";
import type { Observation, PlanInput } from "../../../src/agent/model/plan-input.ts";
import type { VolumeRecord } from "../../../src/agent/model/volume-record.ts";
import { failuresAt } from "../../lib/builders/plan-world.ts";
import type { FailureChoice, WorldChoice } from "./choices.ts";
import { type Draft, draft, generations, uids } from "./drafts.ts";
import { pathAt, settings } from "./paths.ts";
import { recordOf } from "./records.ts";
import { mountedWorld } from "./sights.ts";
import type { StagedVolume } from "./volumes.ts";

/** A world as the planner gets it, and where it comes from. */
export interface RandomWorld {
  readonly input: PlanInput;
  readonly intents: ReadonlyMap<string, IntentEntry>;
  /** What each volume is when it is staged. */
  readonly volumes: ReadonlyMap<string, StagedVolume>;
}

const now = 10_000_000;

export function buildWorld(choice: WorldChoice): RandomWorld {
  const drafts = choice.volumes.map(draft);
  const { table, nodeTable, mountsAt } = mountedWorld(choice, drafts);
  const records = drafts.flatMap((each) => recordOf(each, mountsAt) ?? []);
  const entries = drafts.flatMap(({ entry }) => entry ?? []);
  return {
    intents: new Map(entries.map((entry) => [entry.metadata.name, entry])),
    volumes: new Map(drafts.map(({ name, staged }) => [name, staged])),
    input: {
      desired: new Map(entries.map(({ desired }): [VolumeName, Desired] => [desired.name, desired])),
      synced: choice.synced,
      records: new Map(records.map((record) => [record.name, record])),
      mayHaveLost: choice.mayHaveLost,
      table: choice.tableReadable ? table : undefined,
      ...(choice.tableReadable && nodeTable && { nodeTable }),
      pendingOperations: new Map(drafts.flatMap((each) => pendingOperations(each, records))),
      failures: failuresAt(...drafts.flatMap(failuresOf)),
      contents: (ref) => {
        const known = drafts.some(({ choice: c }, i) => ref.name === `object-${i}` && c.contentKnown);
        if (known) return { known, version: "object-uid/2" };
        return { known, problem: { reason: "ContentUnknown", message: `${ref.name} was not read yet` } };
      },
      observed: new Map(drafts.flatMap(observationOf)),
      settings,
      now,
    },
  };
}

/** As the loop has it: what runs, and what a child that was not seen to end may still do. */
function pendingOperations({ name, choice }: Draft, records: readonly VolumeRecord[]): [VolumeName, OperationKind][] {
  if (choice.pendingOperations !== undefined) return [[name, choice.pendingOperations]];
  return records.some((record) => record.name === name && record.child !== undefined) ? [[name, "stage"]] : [];
}

function failuresOf({ name: volume, choice }: Draft): [Slot, Failure][] {
  return choice.failures.map((each) => [
    { volume, path: each.path === undefined ? undefined : asMountPath(pathAt(each.path)) },
    failureOf(each),
  ]);
}

function failureOf({ kind, sameGeneration, due, reason, sinceMs }: FailureChoice): Failure {
  const errorClass = reason === "TimedOut" ? "uncertain" : "transient";
  return {
    kind,
    generation: sameGeneration ? generations.same : generations.older,
    reason,
    errorClass,
    message: "it failed",
    attempts: 3,
    firstAt: now - sinceMs,
    nextAt: due ? now - 1 : now + 60_000,
    time: 0,
    nextTime: 0,
  };
}

function observationOf({ name, choice, staged }: Draft): [VolumeName, Observation][] {
  if (choice.observed === "no") return [];
  const generation = choice.observed === "older" ? generations.older : generations.same;
  const { identity, deviceNumber } = staged;
  const source = {
    identity: deviceNumber === undefined ? identity : devices(name),
    ...(deviceNumber && { deviceNumber }),
  };
  return [
    [
      name,
      {
        uid: asIntentUID(uids.intent),
        generation,
        at: now - 1000,
        mountID: 1,
        ...(choice.observed === "source" && { source }),
      },
    ],
  ];
}

/** What a bind of a device's node shows. */
function devices(name: string) {
  return { device: "0:6", root: `/vd${name.slice(-1)}`, source: "dev" };
}
