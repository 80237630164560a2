import { hasTokens } from "../content/pod-tokens.ts";
import type { ActualTarget, ActualVolume } from "../model/actual-volume.ts";
import type { DesiredVolume } from "../model/desired.ts";
import type { Action } from "../model/operation.ts";
import type { Published } from "../model/volume-record.ts";
import type { StepContext } from "./step-context.ts";

/** Milliseconds from one publish of a target to the next: kubelet looks at a pod about each minute (behaviour 19). */
const intervalMs = { least: 45_000, spread: 30_000 } as const;

/**
 * PURE. Targets for which the driver has to be called again, because it asks to be (requiresRepublish), and when the
 * next one is due. Only what is there as it should be: anything else is set up first, which calls the driver as well.
 * Where it acts as the pod, tokens that it has not had yet are due at once, and without any it is not called.
 */
export function republishSteps(
  { layout }: DesiredVolume,
  { actualState, input }: StepContext,
): { readonly actions: Action[]; readonly dueAt?: number } {
  if (layout.csi?.requiresRepublish !== true || actualState.stage.truth !== "mounted") return { actions: [] };
  const all = actualState.targets.flatMap((target) => {
    const published = publishedThere(target);
    if (published === undefined) return [];
    const { path } = target;
    // A covering mount that was not handled after the driver's reply, or that the driver made later: it must not stay
    // until the next call.
    if (target.published === "covered") return [{ path, at: Number.NEGATIVE_INFINITY }];
    if (layout.csi?.tokenAudiences !== undefined && !hasTokens(path, input)) return [];
    const { fresh = false, until = Number.POSITIVE_INFINITY } = input.tokens?.get(path) ?? {};
    // When they run out it is not called any more: looked at then.
    return [{ path, at: fresh ? Number.NEGATIVE_INFINITY : Math.min(dueAt(published, input.epoch), until) }];
  });
  const later = all.filter(({ at }) => at > input.now).map(({ at }) => at);
  return {
    actions: all.filter(({ at }) => at <= input.now).map(({ path }) => ({ kind: "republish", path })),
    ...(later.length > 0 && { dueAt: Math.min(...later) }),
  };
}

/**
 * PURE. The volume while its driver is called again: it may mount and unmount on its own path meanwhile, and whoever
 * called it looks at that when it has answered. The targets, which are binds, show whatever they show.
 */
export function whileRepublishing(actualState: ActualVolume): ActualVolume {
  const targets = actualState.targets.map((target): ActualTarget => {
    if (target.published === undefined || target.published === "there" || target.drift !== "SourceDiffers")
      return target;
    const { drift: _ofThePublishPath, ...kept } = target;
    return { ...kept, published: "there", outdated: false };
  });
  return { ...actualState, targets };
}

function publishedThere({ desired, truth, published, outdated, record }: ActualTarget): Published | undefined {
  const isThere = published === "there" || published === "covered";
  const whole = desired !== undefined && truth === "mounted" && isThere && !outdated;
  return whole ? record?.published : undefined;
}

/**
 * The publish path's name selects the part of the interval, so that the targets of a node are spread. Targets that
 * another run of the agent published are due at once, as after a restart of kubelet.
 */
function dueAt({ path, at }: Published, epoch: number | undefined): number {
  if (at === undefined || at.epoch !== epoch) return Number.NEGATIVE_INFINITY;
  const share = Number.parseInt(path.slice(-8), 16) / 2 ** 32;
  return at.ms + intervalMs.least + intervalMs.spread * share;
}
