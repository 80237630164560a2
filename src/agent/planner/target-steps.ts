import { type MountIdentity, mountIdentity, sameIdentity } from "../../host/mount-table/mount-table.ts";
import type { ActualTarget } from "../model/actual-volume.ts";
import type { DesiredMount, DesiredVolume } from "../model/desired.ts";
import { identityBeneath } from "../model/identity-beneath.ts";
import { attributeDifference } from "../model/mount-attributes.ts";
import type { Action } from "../model/operation.ts";
import { fsGroupPlan } from "../ownership/fsgroup-policy.ts";
import { identityProblem, soleTargetProblem } from "./csi-steps.ts";
import { ownershipProblem } from "./ownership-problem.ts";
import { pathProblem } from "./path-problem.ts";
import type { FoundProblems, StepContext } from "./step-context.ts";

/** PURE. The steps of one desired target of a staged volume. */
export function targetActions(
  mount: DesiredMount,
  desired: DesiredVolume,
  { actualState, input, owners, record }: StepContext,
  problems: FoundProblems,
): Action[] {
  const target = actualState.targets.find((t) => t.path === mount.path);
  if (target === undefined) return [];
  const group = fsGroupPlan(mount, desired, record);
  const anew = target.outdated || group.action === "walk";
  const settled = target.truth === "mounted" && !anew;
  const barred =
    pathProblem(mount, input.settings) ??
    (settled
      ? undefined
      : (owners.conflict(desired.name, mount.path, input.settings) ??
        soleTargetProblem(mount.path, desired, actualState))) ??
    (settled && target.differsOnNode !== true ? undefined : identityProblem(mount, desired, target.record, input));
  if (barred !== undefined) {
    problems.targets.set(mount.path, barred);
    return [];
  }
  const owned = ownershipProblem(mount, desired, { record, actualState, settings: input.settings });
  if (owned !== undefined) problems.targets.set(mount.path, owned);
  if (owned !== undefined && !settled) return [];
  const adopted = adoptions(target, desired, { actualState, input });
  if (adopted.length > 0) return adopted;
  if (target.problem !== undefined) {
    problems.targets.set(mount.path, target.problem);
    return [];
  }
  if (target.truth === "mounted" && target.ours !== undefined) {
    if (anew) return [{ kind: "publish", path: mount.path, replaces: target.ours.id }];
    if (target.differsOnNode === true) return [{ kind: "publish", path: mount.path, replaces: target.ours.id }];
    if (!isNoted(target)) return [{ kind: "note", path: mount.path, mountID: target.ours.id }];
    if (!target.attributesDiffer) return [];
    if (mustReplaceForFlags(target, mount)) return [{ kind: "publish", path: mount.path, replaces: target.ours.id }];
    return [{ kind: "setAttributes", path: mount.path, mountID: target.ours.id }];
  }
  if (target.truth === "mounted" || group.action === "wait") return [];
  return [{ kind: "publish", path: mount.path }];
}

/** Whether the record identifies our mount by more than what it shows: its source may have been renamed or removed. */
function isNoted({ ours, record }: ActualTarget): boolean {
  return ours?.shared === undefined ? ours?.id === record?.mountID : ours.shared === record?.peerGroup;
}

/**
 * Flags do not propagate: changed in place, what other namespaces have of a shared mount would keep the old ones. Where
 * somebody has changed the flags here, the others still have those that were asked for.
 */
function mustReplaceForFlags({ ours, record }: ActualTarget, mount: DesiredMount): boolean {
  if (ours?.shared === undefined || record === undefined) return false;
  return attributeDifference(record.attributes, mount.attributes).length > 0;
}

/** A mount without a record that shows exactly this volume, if the spec lets us take it over. */
function adoptions(
  target: ActualTarget,
  desired: DesiredVolume,
  context: Pick<StepContext, "actualState" | "input">,
): Action[] {
  const { actualState } = context;
  const { pod, subPath } = target.desired ?? {};
  // Nobody but us mounts on such a path: it is a record of itself.
  if (pod !== undefined) return adoptSame(target, identityBeneath(actualState.stage.record?.identity, subPath));
  if (desired.adopt === "IfSame") return adoptSame(target, actualState.stage.record?.identity);
  return adoptOwn(target, context);
}

/**
 * Whether a mount without a record, which shows the staged volume, is ours: only the agent makes such a mount, or the
 * journal was lost (safety rule 24). Mounts that others made of the same server or disk share its file system: with an
 * intact journal they are not ours.
 */
export function adoptOwn(
  target: ActualTarget,
  { actualState, input }: Pick<StepContext, "actualState" | "input">,
): Action[] {
  const { mountMatch, desired } = target;
  if (!input.mayHaveLost && mountMatch !== "own" && desired?.pod === undefined) return [];
  const { record, mount } = actualState.stage;
  const known = record?.kind === "filesystem" || record?.kind === "directory" ? record.identity : undefined;
  return adoptSame(target, known ?? (mount && mountIdentity(mount)));
}

function adoptSame(target: ActualTarget, source: MountIdentity | undefined): Action[] {
  const { foreign } = target;
  if (target.record !== undefined || source === undefined || foreign === undefined) return [];
  if (target.problem?.reason !== "ForeignMount" || !sameIdentity(foreign, source)) return [];
  return [{ kind: "adopt", path: target.path, mountID: foreign.id }];
}
