import type { ActualVolume } from "../model/actual-volume.ts";
import type { Desired } from "../model/desired.ts";
import type { Begun, OperationKind } from "../model/operation.ts";

/** What these leave is not what there was when they began. */
const changing: ReadonlySet<OperationKind> = new Set<OperationKind>([
  "stage",
  "refresh",
  "reconfigure",
  "publish",
  "setAttributes",
  "unpublish",
  "unstage",
]);

/**
 * PURE. Whether what runs was begun for an earlier spec, and may yet change what the newest one has mounted: the mount
 * table shows it as it should be, and soon will not. What it does for one pod is that pod's alone.
 */
export function isSuperseded(
  begun: Begun | undefined,
  desired: Desired | undefined,
  actualState: ActualVolume,
): boolean {
  if (begun === undefined || desired === undefined || begun.generation === desired.generation) return false;
  const { operation } = begun;
  if (!changing.has(operation.kind)) return false;
  if (!("path" in operation)) return true;
  const target = actualState.targets.find(({ path }) => path === operation.path);
  return target?.desired !== undefined && target.desired.pod === undefined;
}
