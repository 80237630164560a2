import { driftTexts } from "../../api/drift-texts.ts";
import type { DriftClass } from "../../api/status-values.ts";
import type { ActualTarget, Problem } from "../model/actual-volume.ts";
import type { DriftFound } from "../model/drift.ts";
import { attributeDifference, mountAttributes } from "../model/mount-attributes.ts";
import type { VolumePlan } from "../model/volume-plan.ts";
import { kubeletDrift } from "./kubelet-status.ts";

/** What is different from what was mounted, if anything; the worst first. Only of a volume that is wanted. */
export function driftOf({ actualState, phase, unresponsive }: VolumePlan): DriftFound | undefined {
  if (actualState.kubelet !== undefined) return kubeletDrift(actualState.kubelet);
  if (phase !== "setUp" && phase !== "unexplained") return undefined;
  const { stage } = actualState;
  const found = actualState.targets.flatMap((target) =>
    target.drift === undefined ? [] : [{ target, class: target.drift }],
  );
  const order: readonly DriftClass[] = ["Missing", "SourceDiffers", "Stacked", "OptionsDiffer", "PropagationDiffers"];
  for (const wanted of order) {
    const first = found.find((drift) => drift.class === wanted);
    if (first !== undefined) return { class: wanted, message: messageFor(first.target, wanted) };
  }
  if (stage.drift === undefined)
    return unresponsive && !isDamage(unresponsive) ? { class: "Stale", message: unresponsive.message } : undefined;
  const { path = "", kind } = stage.record ?? {};
  if (kind === "swap") return { class: stage.drift, message: `somebody has turned off the swap on ${path}` };
  return { class: stage.drift, message: stageMessage(stage.drift, path) };
}

/** It is what was mounted, and it answers. */
function isDamage({ reason }: Problem): boolean {
  return reason === "ReadError" || reason === "FilesystemDamaged";
}

function messageFor(target: ActualTarget, drift: DriftClass): string {
  const { path, ours, record, flagsOnNode } = target;
  switch (drift) {
    case "Missing":
      return target.problem?.reason === "TargetMoved"
        ? target.problem.message
        : `${path} was unmounted by somebody else`;
    case "SourceDiffers":
      if (target.foreign === undefined && (target.published === "gone" || target.published === "differs")) {
        return `the driver's mount for ${path} was unmounted or covered by somebody else`;
      }
      return target.foreign === undefined
        ? `${path} shows ${ours?.root ?? "something else"}, the source was removed or renamed`
        : `${path} has another mount in place of ours`;
    case "Stacked":
      return `${path} is covered, or covers another mount`;
    case "OptionsDiffer": {
      if (record === undefined) return `${path} was remounted by somebody else`;
      const here = ours === undefined ? [] : attributeDifference(mountAttributes(ours), record.attributes);
      const there = flagsOnNode === undefined ? [] : attributeDifference(flagsOnNode, record.attributes);
      if (here.length > 0) return `${path} was remounted by somebody else: ${here.join(", ")}`;
      return `the node's mount at ${path} was remounted by somebody else: ${there.join(", ")}`;
    }
    default:
      return `the node does not have ${path} any more: it was made private there and unmounted`;
  }
}

function stageMessage(drift: DriftClass, path: string): string {
  switch (drift) {
    case "Missing":
      return `the staged file system on ${path} was unmounted by somebody else`;
    case "Stale":
      return `${driftTexts.serverEnded}${path} has ended: who uses it gets "not connected"; it is mounted anew`;
    case "ReadOnlyFlip":
      return `${driftTexts.readOnlyFlip}, after an error: see dmesg, check the device`;
    default:
      return `${path} shows another mount than the staged one`;
  }
}
