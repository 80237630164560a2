import { isInvalid } from "../../model/desired.ts";
import { type PlanInput, stagingPath } from "../../model/plan-input.ts";
import type { VolumePlan } from "../../model/volume-plan.ts";
import type { Interest } from "./mount-dependencies.ts";

/** PURE. The mounts that a volume's plan was made from, or would be if they were there. */
export function interestOf(
  { actualState, record, desired }: VolumePlan,
  { settings, table, nodeTable }: PlanInput,
): Interest {
  const key = desired === undefined ? record?.key : isInvalid(desired) ? desired.key : desired.spec.key;
  const staged = [record?.stage?.path, ...(key === undefined ? [] : [stagingPath(settings, key)])];
  const ours = actualState.targets.flatMap((target) => target.ours ?? []);
  const published = (record?.targets ?? []).map((target) => target.published?.path);
  const unread = actualState.unread?.points ?? [];
  const points = [
    ...actualState.targets.map(({ path }) => path),
    ...ours.map(({ point }) => point),
    ...staged,
    ...published,
    ...unread,
  ];
  const ofKubelet = actualState.kubelet?.points ?? [];
  const ids = (record?.targets ?? []).flatMap(({ mountID }) => mountID ?? []);
  const groups =
    nodeTable === undefined
      ? []
      : ours.flatMap(({ shared, master, parent }) => [shared, master, table?.byID(parent)?.shared]);
  // What kubelet mounts it mounts in the node's namespace.
  const here = nodeTable === undefined ? [...points, ...ofKubelet] : points;
  const onNode = nodeTable === undefined ? [] : ofKubelet;
  return { points: distinct(here), ids: distinct(ids), groups: distinct(groups), onNode: distinct(onNode) };
}

function distinct<T>(values: readonly (T | undefined)[]): T[] {
  return [...new Set(values.filter((value) => value !== undefined))];
}
