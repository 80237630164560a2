import { type ConditionInput, mergeConditions, policiesCondition, settlingOf } from "../../api/conditions.ts";
import type { NodeVolumeState, NodeVolumeStateStatus, Orphan } from "../../api/types.gen.ts";
import { counted } from "../../api/values/listed.ts";
import type { SourceProblem } from "../desired/intent-source.ts";
import type { JournalDamage } from "../journal/journal.ts";
import { isInvalid } from "../model/desired.ts";
import type { VolumeName } from "../model/identities.ts";
import type { Plan, VolumePlan } from "../model/volume-plan.ts";
import { type OrphansInput, orphansOf } from "./orphans.ts";
import { obstacleOf, summaryOf } from "./volume-summary.ts";

/** Inputs of the status of the node's NodeVolumeState. Paths are as the agent sees them, unless said otherwise. */
export interface NodeStateInput extends Omit<OrphansInput, "volumes" | "previous"> {
  readonly plan: Plan;
  readonly synced: boolean;
  readonly agent: { readonly version: string; readonly bootID: string; readonly epoch: number };
  /** What the journal had lost when the agent started. */
  readonly damage?: JournalDamage | undefined;
  /** Why the agent cannot watch its intents. */
  readonly sourceProblem?: SourceProblem | undefined;
  /** Which admission policy is not in force, in a sentence. */
  readonly unguarded?: string | undefined;
  /** What others have left on the node. */
  readonly others?: readonly Orphan[];
}

const longestInUse = 200;
const longestOrphans = 50;

/** PURE. What the node looks like as a whole, for people. */
export function nodeStateOf(state: NodeVolumeState, input: NodeStateInput): NodeVolumeStateStatus {
  const all = [...input.plan.volumes.values()];
  const volumes = all.filter((volume) => volume.desired !== undefined);
  const inUse = all
    .filter((volume) => volume.phase !== "released" && volume.actualState.inUse)
    .map((volume) => volume.name);
  // A record whose intent was not read yet is no orphan.
  const ours = !input.synced ? [] : orphansOf({ ...input, volumes: all, previous: state.status?.orphans ?? [] });
  const orphans = [...ours, ...(input.others ?? [])];
  return {
    agent: input.agent,
    synced: input.synced,
    volumes: volumes.length,
    ready: volumes.filter((volume) => summaryOf(volume).ready === "True").length,
    waiting: volumes.filter((volume) => obstacleOf(volume) !== undefined).length,
    drifted: volumes.filter((volume) => summaryOf(volume).drift !== undefined).length,
    inUse: inUse.length,
    volumesInUse: inUse.sort().slice(0, longestInUse),
    orphaned: orphans.length,
    orphans: orphans.slice(0, longestOrphans),
    ...(input.table && { mountTableSize: input.table.size }),
    conditions: mergeConditions(
      state.status?.conditions,
      conditions(input, inUse, volumes),
      state.metadata.generation ?? 0, // kubectl wait passes over a condition of an earlier generation
      input.now,
    ),
  };
}

function conditions(
  { synced, sourceProblem, table, damage, unguarded }: NodeStateInput,
  inUse: readonly VolumeName[],
  volumes: readonly VolumePlan[],
): ConditionInput[] {
  const granted = volumes.filter((volume) => volume.phase !== "released" && !isObserved(volume)).map((v) => v.name);
  // What kubelet manages is not ours to release (safety rule 27).
  const kubelets = new Set(
    volumes.filter(({ actualState }) => actualState.kubelet !== undefined).map(({ name }) => name),
  );
  const holding = [...new Set([...inUse.filter((name) => !kubelets.has(name)), ...granted])];
  const ready: ConditionInput =
    table === undefined
      ? {
          type: "Ready",
          status: "False",
          reason: "MountTableUnreadable",
          message: "the kernel's mount table cannot be read",
        }
      : sourceProblem !== undefined
        ? { type: "Ready", status: "False", ...sourceProblem }
        : synced
          ? { type: "Ready", status: "True", reason: "InSync", message: messageOf(damage) }
          : {
              type: "Ready",
              status: "False",
              reason: "Progressing",
              message: "the intents were not read completely yet",
            };
  const drained: ConditionInput =
    synced && holding.length === 0 && sourceProblem === undefined
      ? { type: "Drained", status: "True", reason: "Released", message: "nothing is granted or in use" }
      : {
          type: "Drained",
          status: "False",
          reason: "Mounted",
          message: `${counted(holding.length, "volume")} ${holding.length === 1 ? "is" : "are"} granted or in use`,
        };
  return [ready, ...settlingOf(ready), drained, ...policiesCondition(unguarded)];
}

function messageOf(damage: JournalDamage | undefined): string {
  if (damage === undefined) return "";
  return `${damage.lines} lines of the journal were damaged when the agent started: mounts without a record are adopted if they are surely ours, and else reported; the damaged journal is ${damage.copy}`;
}

function isObserved({ desired }: VolumePlan): boolean {
  return desired !== undefined && !isInvalid(desired) && desired.mode === "Observe";
}
