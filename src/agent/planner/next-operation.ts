import { type DesiredVolume, isInvalid } from "../model/desired.ts";
import { type Failure, failureOf } from "../model/failure.ts";
import type { MountPath, VolumeName } from "../model/identities.ts";
import { exactly, isRemoval, type Operation } from "../model/operation.ts";
import type { PlanInput } from "../model/plan-input.ts";
import type { Phase, VolumePlan } from "../model/volume-plan.ts";
import type { VolumeRecord } from "../model/volume-record.ts";
import type { Steps } from "./step-context.ts";

/**
 * PURE. The first step that may run now, the failure that blocks an earlier step or this one, and the time of the next
 * retry. An observed volume runs no step that changes anything. A suspended volume only unmounts targets whose
 * consumers have left.
 */
export function nextOperation(
  volume: VolumeName,
  steps: Steps,
  phase: Phase,
  input: PlanInput,
  generation: number,
): Pick<VolumePlan, "operation" | "failure" | "retryAt"> {
  let failure: Failure | undefined;
  let retryAt: number | undefined;
  for (const action of steps.actions) {
    const operation: Operation = { volume, ...action };
    if (!mayRun(operation, phase, input)) continue;
    const failed = failureOf(input.failures, operation);
    const again = failed?.kind === action.kind && failed.generation === generation ? failed : undefined;
    failure ??= again;
    if (again === undefined || input.now >= again.nextAt) {
      return {
        operation: exactly(operation, input.table),
        ...(failure && { failure }),
        ...(retryAt !== undefined && { retryAt }),
      };
    }
    retryAt = Math.min(retryAt ?? again.nextAt, again.nextAt);
  }
  return { ...(failure && { failure }), ...(retryAt !== undefined && { retryAt }) };
}

function mayRun(operation: Operation, phase: Phase, input: PlanInput): boolean {
  const { volume, kind } = operation;
  if (input.table === undefined) return false; // what is not known is neither set up nor taken down
  // Kubelet says so (safety rule 19).
  if (kind === "unpublish" && input.closingPods?.has(operation.path) === true) return true;
  if (isRemoval(operation) && !input.synced) return false; // law L1
  if (phase === "observe") return kind === "observe";
  const desired = input.desired.get(volume);
  if (phase !== "setUp" || desired === undefined || isInvalid(desired) || !desired.suspend) return true;
  return kind === "unpublish" && hasLeft(operation.path, desired, input.records.get(volume));
}

/**
 * Whether the consumer of a mount has left. While the volume is suspended, a target that is unmounted for another
 * reason would not be mounted again.
 */
function hasLeft(path: MountPath, { mounts }: DesiredVolume, record: VolumeRecord | undefined): boolean {
  const name = record?.targets.find((target) => target.path === path)?.name;
  return !mounts.some((mount) => mount.path === path || mount.name === name);
}
