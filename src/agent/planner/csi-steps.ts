import type { DesiredVolume } from "../model/desired.ts";
import type { Action } from "../model/operation.ts";
import type { StepContext } from "./step-context.ts";

/**
 * PURE. Brings what is on the node to the size that the volume has at its backend. Nothing that is there goes for it.
 */
export function expandActions(desired: DesiredVolume, { actualState, record }: StepContext): Action[] {
  if (desired.layout.csi === undefined) {
    const grows = wantsMore(desired, record?.stage?.capacityBytes) && actualState.stage.truth === "mounted";
    return grows ? [{ kind: "expand" }] : [];
  }
  if (!wantsMore(desired, record?.stage?.csi?.capacityBytes) || actualState.stage.truth !== "mounted") return [];
  const targets = actualState.targets.filter((target) => target.desired !== undefined && target.published === "there");
  if (!targets.some((target) => target.record?.published?.readOnly === false)) return [];
  const refused = record?.stage?.csi?.refused;
  return refused?.capacityBytes === desired.capacityBytes ? [] : [{ kind: "expand" }];
}

/** PURE. Whether the volume has grown at its backend, and here not yet. */
export function wantsMore({ capacityBytes, layout }: DesiredVolume, reached: string | undefined): boolean {
  if (capacityBytes === undefined || layout.readOnly || (layout.csi === undefined && layout.grows !== true))
    return false;
  return reached === undefined || BigInt(capacityBytes) > BigInt(reached);
}

/**
 * PURE. Whether all that may have been done for a volume has to be written down first, because its record may be lost.
 */
export function mustRecover(desired: DesiredVolume, { input, record }: Pick<StepContext, "input" | "record">): boolean {
  return desired.layout.csi !== undefined && desired.granted && input.mayHaveLost && record === undefined;
}
