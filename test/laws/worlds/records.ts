import { volumeKey } from "../../../src/agent/desired/volume-key.ts";
import { asIntentUID, asMountPath, asVolumeName } from "../../../src/agent/model/identities.ts";
import { afterReboot, type TargetRecord, type VolumeRecord } from "../../../src/agent/model/volume-record.ts";
import type { MountEntry } from "../../../src/host/mount-table/mountinfo.ts";
import type { MountAttributes } from "../../../src/host/ports/types.ts";
import type { RecordChoice, TargetChoice } from "./choices.ts";
import { type Draft, generations, uids } from "./drafts.ts";
import { sources } from "./intents.ts";
import { pathAt } from "./paths.ts";
import { plain } from "./table-builder.ts";
import { stageRecord } from "./volumes.ts";

/** What is on a path: the volume's mount, and another one. */
export interface MountsAt {
  readonly ours?: MountEntry | undefined;
  readonly other?: MountEntry | undefined;
}

/** A mount id that no mount of these worlds has. */
const noMount = 999;

/** The journal's record of a volume. */
export function recordOf(draft: Draft, mountsAt: (draft: Draft, path: string) => MountsAt): VolumeRecord | undefined {
  const { name, staged } = draft;
  const choice = draft.choice.record;
  if (choice === undefined) return undefined;
  const stage = stageOf(draft, choice);
  const record: VolumeRecord = {
    name: asVolumeName(name),
    key: volumeKey(name),
    type: staged.type,
    uid: asIntentUID(uidOf(choice)),
    generation: generations[choice.generation],
    ...(stage && { stage }),
    targets: choice.targets.map((target) => targetOf(target, draft, choice, mountsAt(draft, pathAt(target.path)))),
    ...(choice.child && { child: { pid: 4711, startTime: 1 } }),
    ...(choice.retained && { retained: true }),
    ...(choice.revoked && { revoked: true }),
  };
  return choice.rebooted ? afterReboot(record) : record;
}

function uidOf(choice: RecordChoice): string {
  return choice.sameUID ? uids.intent : uids.before;
}

function stageOf({ staged, choice: { type } }: Draft, { stage }: RecordChoice) {
  if (stage === undefined) return undefined;
  const { ready, identityKnown } = stage;
  const options = sources[type].options[stage.options];
  const shows = type === "configMap" || type === "secret";
  const contentVersion = shows ? `object-uid/${stage.contentOld ? 1 : 2}` : undefined;
  return stageRecord(staged, { ready, options, identityKnown, contentVersion });
}

function targetOf(target: TargetChoice, draft: Draft, record: RecordChoice, { ours, other }: MountsAt): TargetRecord {
  const { staged } = draft;
  const uid = target.sameUID ? uidOf(record) : record.sameUID ? uids.before : uids.longBefore;
  const group = ours?.shared;
  return {
    path: asMountPath(pathAt(target.path)),
    name: `set.m${target.path}`,
    uid: asIntentUID(uid),
    kind: staged.fileKind,
    made: target.made,
    identity: target.current ? staged.identity : staged.before,
    attributes: recordedAttributes(target, draft),
    ...(target.known === "id" && { mountID: ours?.id ?? noMount }),
    ...(target.known === "reusedID" && { mountID: other?.id ?? noMount }),
    ...(target.known === "peerGroup" && group !== undefined && { mountID: noMount, peerGroup: group }),
    ...(target.known === "id" && group !== undefined && { peerGroup: group }),
  };
}

/** The flags that were asked for when the target was mounted. */
export function recordedAttributes({ path, flagsAsWanted }: TargetChoice, { desired }: Draft): MountAttributes {
  const wanted = desired?.mounts.find((mount) => mount.path === pathAt(path))?.attributes;
  const attributes = wanted ?? { ...plain, nosuid: true, nodev: true };
  return flagsAsWanted ? attributes : { ...attributes, readOnly: !attributes.readOnly };
}
