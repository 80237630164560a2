import { type IntentInput, intent } from "../../../hack/lib/agent-on-kernel/intent.ts";
import { desiredVolume } from "../../../src/agent/desired/desired-volume.ts";
import type { Failure, Failures, Slot } from "../../../src/agent/model/failure.ts";
import {
  asIntentUID,
  asMountPath,
  asVolumeName,
  type MountPath,
  type VolumeName,
} from "../../../src/agent/model/identities.ts";
import type { PlanInput } from "../../../src/agent/model/plan-input.ts";
import type { Plan, VolumePlan } from "../../../src/agent/model/volume-plan.ts";
import type { StageRecord, TargetRecord, VolumeRecord } from "../../../src/agent/model/volume-record.ts";
import type { NodeVolumeIntent } from "../../../src/api/types.gen.ts";
import { MountTable } from "../../../src/host/mount-table/mount-table.ts";
import type { MountEntry } from "../../../src/host/mount-table/mountinfo.ts";
import { entry } from "./mount-entries.ts";
import { plan } from "./plan-whole.ts";

export const prefix = "/mnt/nodevolume";
export const volume = asVolumeName("node.volume-1");
const identity = { device: "0:50", root: "/" };

/** An intent for a tmpfs on one target. */
export function wanted(more: Partial<IntentInput> = {}): NodeVolumeIntent {
  return intent({ source: { emptyDir: { medium: "Memory" } }, mounts: [{ path: `${prefix}/a` }], ...more });
}

export function stageRecord(more: Partial<StageRecord> = {}): StageRecord {
  const path = "/state/staging/key";
  return { kind: "filesystem", path, ready: true, options: ["mode=0777"], fileKind: "directory", identity, ...more };
}

export function targetRecord(more: Partial<TargetRecord> = {}): TargetRecord {
  const attributes = desiredVolume(wanted(), "key").mounts[0]?.attributes;
  if (attributes === undefined) throw new Error("no mount");
  const path = asMountPath(`${prefix}/a`);
  return {
    path,
    name: "set.m0",
    uid: asIntentUID("uid-1"),
    kind: "directory",
    made: true,
    identity,
    attributes,
    mountID: 20,
    ...more,
  };
}

export function record(more: Partial<VolumeRecord> = {}): VolumeRecord {
  const base = { name: volume, key: "key", type: "emptyDir", uid: asIntentUID("uid-1"), generation: 1 } as const;
  return { ...base, stage: stageRecord(), targets: [targetRecord()], ...more };
}

/** The mounts of a volume that is all set up: its staged file system and its target. */
export const staged = entry({ id: 10, point: "/state/staging/key" });
export const mounted = entry({ id: 20, point: `${prefix}/a` });
const rootMount = entry({ id: 1, parent: 0, point: "/", device: "8:1", fsType: "ext4", options: ["rw", "relatime"] });

/** Failures as the planner has them. */
export function failuresAt(...failures: (readonly [Slot, Failure])[]): Failures {
  const byVolume = new Map<VolumeName, Map<MountPath | undefined, Failure>>();
  for (const [{ volume, path }, failure] of failures) {
    byVolume.set(volume, new Map(byVolume.get(volume)).set(path, failure));
  }
  return byVolume;
}

export interface World {
  readonly intents?: readonly NodeVolumeIntent[];
  readonly records?: readonly VolumeRecord[];
  readonly mounts?: readonly MountEntry[] | "unreadable";
  readonly input?: Partial<PlanInput>;
  readonly failures?: Failures;
}

export function planWorld({ intents = [], records = [], mounts = [], failures = new Map(), input = {} }: World): Plan {
  return plan({
    desired: new Map(intents.map((i) => [asVolumeName(i.metadata.name), desiredVolume(i, "key")])),
    synced: true,
    records: new Map(records.map((r) => [r.name, r])),
    mayHaveLost: false,
    table: mounts === "unreadable" ? undefined : new MountTable([rootMount, ...mounts]),
    pendingOperations: new Map(),
    failures,
    contents: () => ({ known: true, version: "u/1" }),
    observed: new Map(),
    settings: { allowedPrefixes: [prefix], stateDir: "/state", hostRoot: "/", csiDir: "/csi" },
    now: 1_000,
    ...input,
  });
}

/** What is planned for the volume of this world. */
export function planned(world: World): VolumePlan {
  const found = planWorld(world).volumes.get(volume);
  if (found === undefined) throw new Error("the volume is not planned");
  return found;
}
