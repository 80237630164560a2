import { noProblems } from "../model/actual-volume.ts";
import type { DesiredVolume } from "../model/desired.ts";
import type { Action } from "../model/operation.ts";
import { hostSource, lastObservation, type PlanInput } from "../model/plan-input.ts";
import type { StepContext, Steps } from "./step-context.ts";

/**
 * How long a look at a source holds, in milliseconds: nothing tells when a source appears, goes or is renamed. Longer
 * once two looks have shown the same: each one behind a symbolic link takes a process.
 */
const holdsMs = 30_000;
const steadyHoldsMs = 5 * 60_000;

/** PURE. What Manage would do, compared with what the source showed at the last look. */
export function observeSteps(desired: DesiredVolume, { input, actualState }: StepContext): Steps {
  const seen = lastObservation(desired, input.observed);
  const look: Action[] = isLookDue(desired, input) ? [{ kind: "observe" }] : [];
  if (desired.layout.hostPath !== undefined && seen?.generation !== desired.generation) {
    return { actions: look, problems: noProblems };
  }
  const mount = actualState.targets.flatMap((target): Action[] =>
    target.truth === "mounted" || target.problem !== undefined ? [] : [{ kind: "publish", path: target.path }],
  );
  const changes = actualState.targets.flatMap(({ truth, attributesDiffer, foreign, path }): Action[] =>
    truth === "mounted" && attributesDiffer && foreign !== undefined
      ? [{ kind: "setAttributes", path, mountID: foreign.id }]
      : [],
  );
  const targets = new Map(
    actualState.targets.flatMap((t) => (t.problem === undefined ? [] : [[t.path, t.problem] as const])),
  );
  const staged: Action[] = mount.length > 0 ? [{ kind: "stage" }, ...mount] : [];
  return { actions: [...look, ...staged, ...changes], problems: { targets } };
}

/** PURE. Whether what a source shows is not known, or may be another thing by now. */
function isLookDue(desired: DesiredVolume, { observed, table, settings, now }: PlanInput): boolean {
  const { generation, layout } = desired;
  if (layout.hostPath === undefined) return false;
  const seen = lastObservation(desired, observed);
  if (seen?.generation !== generation || now - seen.at >= (seen.steady === true ? steadyHoldsMs : holdsMs)) return true;
  return table?.covering(hostSource(settings, layout.hostPath))?.id !== seen.mountID;
}
