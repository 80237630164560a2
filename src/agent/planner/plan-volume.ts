import type { MountEntry } from "../../host/mount-table/mountinfo.ts";
import { buildActualState, isOwnMount } from "../actual/build-actual-state.ts";
import { identifyMount } from "../actual/identify-mount.ts";
import { tableUnreadable } from "../actual/mount-problems.ts";
import type { MountMatch, Problems } from "../model/actual-volume.ts";
import { type Desired, isInvalid } from "../model/desired.ts";
import type { VolumeName } from "../model/identities.ts";
import { describe } from "../model/operation.ts";
import { lastObservation, type PlanInput, stagingPath } from "../model/plan-input.ts";
import type { Phase, VolumePlan } from "../model/volume-plan.ts";
import type { VolumeRecord } from "../model/volume-record.ts";
import { decidePhase } from "./decide-phase.ts";
import { whileRepublishing } from "./driver-republish-steps.ts";
import { nextOperation } from "./next-operation.ts";
import type { PathOwners } from "./path-owners.ts";
import { planKubelet } from "./plan-kubelet.ts";
import type { StepContext } from "./step-context.ts";
import { stuckProblem } from "./stuck-operation.ts";
import { isSuperseded } from "./superseded.ts";

/** PURE. One volume: where it stands, and what to start for it now. */
export function planVolume(name: VolumeName, input: PlanInput, owners: PathOwners): VolumePlan {
  const desired = input.desired.get(name);
  const record = input.records.get(name);
  if (record === undefined && desired !== undefined && !isInvalid(desired) && !desired.deleting && desired.kubelet) {
    return planKubelet(desired, desired.kubelet, input);
  }
  const understood = desired === undefined || isInvalid(desired) ? undefined : desired;
  const unread = desired === undefined || !isInvalid(desired) ? undefined : desired;
  const seen = buildActualState({
    desired: understood,
    unread,
    record,
    mayHaveLost: input.mayHaveLost,
    table: input.table,
    nodeTable: input.nodeTable,
    settings: input.settings,
    stagingPath: stagingPath(input.settings, understood?.spec ?? unread ?? record ?? { key: "" }),
    identifyMount: mountIdentifier(input, desired),
    ended: input.ended?.get(name),
    swap: input.swaps?.get(name),
  });
  const running = input.pendingOperations.get(name);
  const actualState = running === "republish" ? whileRepublishing(seen) : seen;
  const unresponsive = seen.stage.truth === "mounted" ? input.unresponsive?.get(name) : undefined;
  const context: StepContext = { input, owners, actualState, record };
  const { phase, steps } = decidePhase(desired, context);
  const problems = withTable(steps.problems, phase, input);
  const health = input.health?.get(name);
  const known = {
    ...(desired && { desired }),
    ...(record && { record }),
    ...(health && { health }),
    ...(unresponsive && phase === "setUp" && { unresponsive }),
    ...(steps.behind && { behind: steps.behind }),
  };
  const base = { name, phase, actualState, problems, ...known };
  // To call a driver again changes nothing of where the volume stands.
  const pending = steps.actions.filter(({ kind }) => kind !== "observe" && kind !== "republish").map(describe);
  const first = nextOperation(name, steps, phase, input, desired?.generation ?? record?.generation ?? 0);
  const chosen = { ...first, ...sooner(first.retryAt, steps.dueAt) };
  if (running === undefined) return { ...base, pending, ...chosen };
  const stuckOperation = stuckProblem(name, input, { desired, record });
  const failure = chosen.failure && { failure: chosen.failure };
  const superseded = isSuperseded(input.begun?.get(name), desired, actualState) && { superseded: true as const };
  return { ...base, pending, running, ...superseded, ...failure, ...(stuckOperation && { stuckOperation }) };
}

function sooner(retryAt: number | undefined, dueAt: number | undefined): Pick<VolumePlan, "retryAt"> {
  if (retryAt === undefined && dueAt === undefined) return {};
  return { retryAt: Math.min(retryAt ?? Infinity, dueAt ?? Infinity) };
}

/** Without the mount table, no step of a managed volume can run. */
function withTable(problems: Problems, phase: Phase, { table }: PlanInput): Problems {
  if (table !== undefined || (phase !== "setUp" && phase !== "tearDown") || problems.volume) return problems;
  return { ...problems, volume: tableUnreadable };
}

/** What a mount without a record is to a volume whose spec is understood. */
function mountIdentifier(
  input: PlanInput,
  desired: Desired | undefined,
): (mount: MountEntry) => MountMatch | undefined {
  const { table, settings } = input;
  if (table === undefined || desired === undefined) return () => undefined;
  if (isInvalid(desired)) return (mount) => (isOthersAlone(mount, desired, input) ? "other" : undefined);
  const observed = lastObservation(desired, input.observed);
  if (desired.mode === "Observe" && desired.layout.hostPath !== undefined && observed?.source === undefined) {
    return () => undefined;
  }
  return (mount) =>
    isOthersAlone(mount, desired, input) ? "other" : identifyMount(mount, desired, { table, settings, observed });
}

/** Whether the record of another volume covers the only mount on a path: then it is none that this one has lost. */
function isOthersAlone(mount: MountEntry, desired: Desired, { table, records }: PlanInput): boolean {
  const { name } = desired;
  if ((!isInvalid(desired) && desired.mode === "Observe") || table?.layers(mount.point).length !== 1) return false;
  for (const record of records.values()) if (record.name !== name && isRecorded(mount, record)) return true;
  return false;
}

/** Whether a mount is a target of this record: then no other volume has lost the record of it. */
function isRecorded(mount: MountEntry, { targets }: VolumeRecord): boolean {
  return targets.some((target) => target.path === mount.point && isOwnMount(mount, target));
}
