import fc from "fast-check";
import type { OperationKind } from "../../../src/agent/model/operation.ts";
import {
  type FailureChoice,
  type IntentChoice,
  type MountChoice,
  type RecordChoice,
  type Sight,
  type StageChoice,
  type StagingSight,
  type TargetChoice,
  type VolumeChoice,
  volumeTypes,
  type WorldChoice,
} from "./choices.ts";

const rarely = weighted(1, 11);
const seldom = weighted(1, 24);
const mostly = weighted(11, 1);

const mount = fc.record<MountChoice>({ path: fc.nat(4), moved: weighted(1, 4), readOnly: rarely, noexec: rarely });
const operationKind = fc.constantFrom<OperationKind[]>(
  "stage",
  "publish",
  "unpublish",
  "unstage",
  "reconfigure",
  "refresh",
  "setAttributes",
  "adopt",
);

const intent = fc.record<IntentChoice>({
  deleting: weighted(1, 4),
  observe: rarely,
  granted: mostly,
  suspend: rarely,
  adopt: weighted(1, 2),
  retain: rarely,
  unmountMax: fc.constantFrom("Normal", "Force", "Lazy", "Lazy"),
  broken: sometimes(fc.nat(3), 8),
  options: fc.constantFrom(0, 0, 0, 1),
  mounts: fc.uniqueArray(mount, { selector: ({ path }) => path, maxLength: 3 }),
});

const target = fc.record<TargetChoice>({
  path: fc.nat(4),
  sameUID: mostly,
  known: fc.constantFrom("id", "id", "id", "peerGroup", "peerGroup", "reusedID", "nothing"),
  flagsAsWanted: mostly,
  current: mostly,
  made: fc.boolean(),
});

const stage = fc.record<StageChoice>({
  ready: mostly,
  identityKnown: mostly,
  options: fc.constantFrom(0, 0, 0, 1),
  contentOld: rarely,
});

const record = fc.record<RecordChoice>({
  sameUID: mostly,
  generation: fc.constantFrom("same", "same", "same", "same", "older", "older", "newer"),
  stage: fc.option(stage, { freq: 9, nil: undefined }),
  targets: fc.oneof(fc.constant([]), fc.uniqueArray(target, { selector: ({ path }) => path, maxLength: 3 })),
  child: seldom,
  retained: seldom,
  revoked: weighted(1, 5),
  rebooted: seldom,
});

const ofVolume = fc.record({
  path: fc.constant(undefined),
  kind: fc.constantFrom("stage", "unstage", "reconfigure", "refresh"),
});
const ofTarget = fc.record({
  path: fc.nat(3),
  kind: fc.constantFrom("publish", "unpublish", "unpublish", "setAttributes"),
});
const failed = fc.record({
  sameGeneration: mostly,
  due: mostly,
  reason: fc.constantFrom("TargetBusy", "OptionsRefused", "SetUpFailed", "TimedOut"),
  sinceMs: fc.constantFrom(0, 100_000, 1_000_000, 1_000_000),
});
const failure: fc.Arbitrary<FailureChoice> = fc
  .tuple(fc.oneof({ weight: 1, arbitrary: ofVolume }, { weight: 3, arbitrary: ofTarget }), failed)
  .map(([where, how]) => ({ ...where, ...how }));

/** Most of what is wanted was mounted before; where it was not, and may be adopted, nothing was. */
function mirrored(choice: VolumeChoice, mirror: boolean): VolumeChoice {
  if (choice.intent === undefined || choice.record === undefined) return choice;
  if (!mirror) return choice.intent.adopt ? { ...choice, record: { ...choice.record, targets: [] } } : choice;
  const known = choice.record.targets;
  const missing = choice.intent.mounts.filter(({ path }) => !known.some((each) => each.path === path));
  const more = missing.map(({ path }): TargetChoice => ({ path, ...asUsual }));
  return { ...choice, record: { ...choice.record, targets: [...more, ...known.slice(0, 1)] } };
}

const asUsual = { sameUID: true, known: "id", flagsAsWanted: true, current: true, made: true } as const;

const anyVolume = fc.record<VolumeChoice>({
  type: fc.constantFrom(...volumeTypes, "memory", "hostPath"),
  intent: fc.option(intent, { freq: 5, nil: undefined }),
  record: fc.option(record, { freq: 5, nil: undefined }),
  staging: fc.constantFrom(
    ...many<StagingSight>("ours", 14),
    "unrecorded",
    "absent",
    "foreign",
    "foreignOver",
    "twice",
    "readOnly",
  ),
  pendingOperations: sometimes(operationKind, 8),
  failures: fc.oneof(
    { weight: 3, arbitrary: fc.constant([]) },
    { weight: 1, arbitrary: fc.array(failure, { minLength: 1, maxLength: 4 }) },
  ),
  contentKnown: mostly,
  observed: fc.constantFrom("no", "older", "nothing", "source", "source"),
});

const volume = fc.tuple(anyVolume, weighted(3, 1)).map(([choice, mirror]) => mirrored(choice, mirror));

const sight = fc.constantFrom(
  ...many<Sight>("ours", 12),
  ...many<Sight>("absent", 2),
  "foreign",
  "renamed",
  "otherFlags",
  "foreignOver",
  "foreignUnder",
  "twice",
  ...many<Sight>("unrecorded", 3),
);

export const worldChoices: fc.Arbitrary<WorldChoice> = fc.record<WorldChoice>({
  volumes: fc.array(volume, { minLength: 1, maxLength: 3 }),
  sights: fc.array(sight, { minLength: 5, maxLength: 5 }),
  synced: weighted(8, 1),
  tableReadable: weighted(15, 1),
  mayHaveLost: fc.boolean(),
  covered: seldom,
  deepFirst: rarely,
  shared: weighted(3, 1),
  node: fc.constantFrom("none", "none", "none", "same", "missing", "otherFlags"),
});

/** `arbitrary` once in `of`. */
function sometimes<T>(arbitrary: fc.Arbitrary<T>, of: number): fc.Arbitrary<T | undefined> {
  return fc.oneof({ weight: of - 1, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary });
}

/** True `yes` times of `yes` + `no`. */
function weighted(yes: number, no: number): fc.Arbitrary<boolean> {
  return fc.oneof({ weight: no, arbitrary: fc.constant(false) }, { weight: yes, arbitrary: fc.constant(true) });
}

function many<T>(value: T, times: number): T[] {
  return Array<T>(times).fill(value);
}

/** Worlds in which most volumes have their mount on the first path and want it on another. */
export const movingWorlds: fc.Arbitrary<WorldChoice> = fc
  .tuple(worldChoices, fc.integer({ min: 1, max: 4 }))
  .map(([world, path]) => ({ ...world, volumes: world.volumes.map((each) => moving(each, path)) }));

function moving(choice: VolumeChoice, path: number): VolumeChoice {
  const { intent: wanted, record: known } = choice;
  if (wanted === undefined || known === undefined) return choice;
  const others = wanted.mounts.filter((each) => each.path !== 0 && each.path !== path && !each.moved);
  const mounts = [{ path, moved: true, readOnly: false, noexec: false }, ...others];
  const targets = [{ path: 0, ...asUsual }, ...known.targets.filter((each) => each.path !== 0)];
  return { ...choice, intent: { ...wanted, deleting: false, mounts }, record: { ...known, targets } };
}
