import { mayBeLost } from "../actual/build-actual-state.ts";
import { nameOf, releaseCommand, tableUnreadable } from "../actual/mount-problems.ts";
import { type ActualTarget, noProblems, type Problem } from "../model/actual-volume.ts";
import { type Desired, isInvalid } from "../model/desired.ts";
import type { VolumeName } from "../model/identities.ts";
import { lastObservation } from "../model/plan-input.ts";
import { mustRecover } from "./csi-steps.ts";
import type { StepContext, Steps } from "./step-context.ts";

/**
 * PURE. The steps and problems of a volume without a record before it counts as released, if records may be lost: its
 * mounts may still exist. A mount that only the agent makes is adopted, and then torn down. A mount that may be the
 * agent's or someone else's blocks the release with a problem. A mount of another file system does neither (safety
 * rules 6 and 24). For an intent that is not understood, every mount that may be its own blocks: its spec cannot tell
 * how to tear it down.
 * @returns undefined if the volume has left nothing
 */
export function lostSteps(desired: Desired, { input, actualState, record }: StepContext): Steps | undefined {
  const observed = !isInvalid(desired) && desired.mode === "Observe";
  if (observed) return undefined; // it has done nothing
  if (input.table === undefined) return { actions: [], problems: { ...noProblems, volume: tableUnreadable } };
  if (isInvalid(desired)) {
    const { problem } = actualState.unread ?? {};
    return problem && { actions: [], problems: { ...noProblems, volume: problem } };
  }
  if (record !== undefined || !desired.granted) return undefined;
  if (mustRecover(desired, { input, record })) return { actions: [{ kind: "recover" }], problems: noProblems };
  const unknown = actualState.targets.filter((target) => target.foreign !== undefined);
  if (input.mayHaveLost && unknown.length > 0 && desired.layout.hostPath !== undefined) {
    const seen = lastObservation(desired, input.observed);
    if (seen?.generation !== desired.generation) return { actions: [{ kind: "observe" }], problems: noProblems };
  }
  const lost = unknown.filter((target) => mayBeLost(target, input.mayHaveLost));
  if (lost.length === 0) return undefined;
  const actions = lost.flatMap(({ path, mountMatch, foreign, problem, desired: wanted }) => {
    // Nobody but us mounts on the path of a pod, and it goes only when kubelet unpublishes it.
    const made = mountMatch === "own" || wanted?.pod !== undefined;
    const alone = made && problem?.reason === "ForeignMount";
    return alone && foreign !== undefined ? [{ kind: "adopt", path, mountID: foreign.id } as const] : [];
  });
  if (actions.length > 0) return { actions, problems: noProblems };
  const targets = new Map(lost.map((target) => [target.path, lostMount(desired.name, target)]));
  return { actions, problems: { targets } };
}

function lostMount(volume: VolumeName, { path, foreign, problem }: ActualTarget): Problem {
  if (problem !== undefined && problem.reason !== "ForeignMount") return problem;
  return {
    reason: "ForeignMount",
    message: `${path} has ${nameOf(foreign)} mounted, which may be this volume's: the agent's record of it may be lost. Unmount it, and the volume is released; if it is somebody else's: ${releaseCommand(volume)}`,
    on: { kind: "Mount", name: path },
  };
}
