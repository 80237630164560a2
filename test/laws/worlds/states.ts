import { type Desired, isInvalid } from "../../../src/agent/model/desired.ts";
import type { PlanInput } from "../../../src/agent/model/plan-input.ts";
import type { VolumePlan } from "../../../src/agent/model/volume-plan.ts";
import type { VolumeRecord } from "../../../src/agent/model/volume-record.ts";
import { covers, mayCover, soleMount } from "./evidence.ts";

/** States of the world as a whole that matter to some law. */
export const worldStates: { readonly [state: string]: (input: PlanInput) => boolean } = {
  "not synced": ({ synced }) => !synced,
  "unreadable table": ({ table }) => table === undefined,
  "agent in its own namespace": ({ nodeTable }) => nodeTable !== undefined,
  "several volumes": ({ desired }) => desired.size > 1,
};

/** States of one volume. */
export const volumeStates: { readonly [state: string]: (volume: VolumePlan, input: PlanInput) => boolean } = {
  "not understood": ({ desired }) => desired !== undefined && isInvalid(desired),
  deleting: ({ desired }) => desired?.deleting === true,
  observe: ({ desired }) => understood(desired)?.mode === "Observe",
  suspended: ({ desired }) => understood(desired)?.suspend === true,
  "no grant": ({ desired }) => {
    const volume = understood(desired);
    return volume !== undefined && volume.mode === "Manage" && !volume.granted;
  },
  "no intent": ({ desired, record }) => desired === undefined && record !== undefined,
  "no record": ({ desired, record }) => desired !== undefined && record === undefined,
  "in flight": ({ name }, { pendingOperations }) => pendingOperations.has(name),
  "abandoned child": ({ record }) => record?.child !== undefined,
  retained: ({ record }) => record?.retained === true,
  revoked: ({ record }) => record?.revoked === true,
  "boot changed": ({ record }) => record?.targets.some(({ identity }) => identity.device === "") === true,
  "record of an earlier intent": ({ desired, record }) =>
    desired !== undefined && record !== undefined && desired.uid !== record.uid,
  "stale read": ({ desired, record }) => generationsApart(desired, record) < 0,
  "outdated generation": ({ desired, record }) => generationsApart(desired, record) > 0,
  "uncertain stage": ({ record }) => record?.stage?.ready === false,
  "unrecorded stage": ({ record, actualState }) => record?.stage === undefined && actualState.stage.mount !== undefined,
  "staged file system gone": ({ record }, { table }) =>
    record?.stage?.kind === "filesystem" && table !== undefined && table.layers(record.stage.path).length === 0,
  "read-only file system": ({ actualState }) => actualState.stage.mount?.superOptions.includes("ro") === true,
  "all in place": ({ record, desired }, { table }) =>
    (understood(desired)?.mounts.length ?? 0) > 0 &&
    understood(desired)?.mounts.every(({ path }) => {
      const target = record?.targets.find((each) => each.path === path);
      const mount = table && soleMount(table, path);
      return target !== undefined && mount !== undefined && covers(target, mount);
    }) === true,
  "mounted, consumer left": ({ record, desired }, { table }) =>
    understood(desired) !== undefined &&
    targetsOf(record).some(
      (target) =>
        table?.layers(target.path).some((mount) => covers(target, mount)) === true &&
        !understood(desired)?.mounts.some(({ path }) => path === target.path),
    ),
  missing: ({ record }, { table }) =>
    table !== undefined &&
    targetsOf(record).some(({ path, mountID }) => mountID !== undefined && table.layers(path).length === 0),
  stacked: ({ record }, { table }) => targetsOf(record).some(({ path }) => (table?.layers(path).length ?? 0) > 1),
  covered: ({ record }, { table }) =>
    targetsOf(record).some(({ path }) => table?.layers(path).length === 1 && soleMount(table, path) === undefined),
  foreign: ({ record }, { table }) =>
    targetsOf(record).some((target) => {
      const mount = table && soleMount(table, target.path);
      return mount !== undefined && !mayCover(target, mount);
    }),
  renamed: ({ record }, { table }) =>
    targetsOf(record).some((target) => {
      const mount = table && soleMount(table, target.path);
      return mount !== undefined && covers(target, mount) && mount.root !== target.identity.root;
    }),
  "uncertain target": ({ actualState }) =>
    actualState.targets.some(({ truth, record }) => record !== undefined && truth === "uncertain"),
  "shows what was staged before": ({ record }) =>
    targetsOf(record).some(({ identity }) => record?.stage?.identity?.root !== identity.root),
  conflict: ({ problems }) => [...problems.targets.values()].some(({ reason }) => reason === "PathConflict"),
  "path not allowed": ({ problems }) =>
    [...problems.targets.values()].some(({ reason }) => reason === "PathNotAllowed"),
  "content not known": ({ problems }) => problems.volume?.reason === "ContentUnknown",
  busy: ({ failure }) => failure?.reason === "TargetBusy",
  "in backoff": ({ retryAt, operation }) => retryAt !== undefined && operation === undefined,
  "options changed": ({ record, desired }) => {
    const wanted = understood(desired)?.layout.options;
    return record?.stage !== undefined && wanted !== undefined && wanted.join() !== record.stage.options.join();
  },
  "may be adopted": ({ desired }) => understood(desired)?.adopt === "IfSame",
};

function understood(desired: Desired | undefined) {
  return desired === undefined || isInvalid(desired) ? undefined : desired;
}

function targetsOf(record: VolumeRecord | undefined) {
  return record?.targets ?? [];
}

/** How many generations the intent is ahead of what was acted for; 0 if that was another object. */
function generationsApart(desired: Desired | undefined, record: VolumeRecord | undefined): number {
  if (desired === undefined || record === undefined || desired.uid !== record.uid) return 0;
  return desired.generation - record.generation;
}
