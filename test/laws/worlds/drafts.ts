import { type IntentEntry, understand } from "../../../src/agent/desired/intents.ts";
import { type DesiredVolume, isInvalid } from "../../../src/agent/model/desired.ts";
import type { VolumeName } from "../../../src/agent/model/identities.ts";
import type { VolumeChoice } from "./choices.ts";
import { rawIntent } from "./intents.ts";
import { type StagedVolume, stagedVolume, volumeName } from "./volumes.ts";

/** One volume of a world, while the world is being made. */
export interface Draft {
  readonly name: VolumeName;
  readonly choice: VolumeChoice;
  readonly staged: StagedVolume;
  readonly entry: IntentEntry | undefined;
  /** The intent, if there is one and it is understood. */
  readonly desired: DesiredVolume | undefined;
}

export const uids = { intent: "uid-2", before: "uid-1", longBefore: "uid-0" } as const;
export const generations = { older: 4, same: 5, newer: 6 } as const;

export function draft(choice: VolumeChoice, index: number): Draft {
  const name = volumeName(index);
  const identity = { uid: uids.intent, generation: generations.same };
  const raw = choice.intent && rawIntent(choice.intent, { name, index, type: choice.type }, identity);
  const entry = raw && understand(raw);
  const desired = entry === undefined || isInvalid(entry.desired) ? undefined : entry.desired;
  return { name, choice, staged: stagedVolume(choice.type, index), entry, desired };
}
