import { VolumeError } from "../../errors.ts";
import type { DeviceInfo } from "../../host/ports/host-ports.ts";
import type { StageContext } from "../api/volume-plugin.ts";

/**
 * Leave to format a device that is not empty, as what is on it is the rest of our own mkfs that was cut off (decision
 * 0013). As it stands in the journal: the device's identity, and, once the rest was looked at, the digest of that.
 */
interface Licence {
  readonly identity: string;
  /** DeviceInfo.contents at the first look after the mkfs; `null` until then. */
  readonly rest: string | undefined | null;
}

const nothing = "nothing";

function licenceOf(record: string): Licence {
  const [, identity, rest] = /^(.*), rest ([0-9a-f]{16}|nothing)$/.exec(record) ?? [];
  if (identity === undefined) return { identity: record, rest: null };
  return { identity, rest: rest === nothing ? undefined : rest };
}

/** PURE. The record of a device whose rest was looked at. */
export function restRecord(identity: string, contents: string | undefined): string {
  return `${identity}, rest ${contents ?? nothing}`;
}

/**
 * Whether what is on a device is the rest of what we began there. The first look writes down what that is; where
 * something else is read later, somebody has written it, and the licence goes, for good.
 * @param record context.formatting, or the identity of a device that is ours and was not looked at yet
 */
export async function isRest(
  { identity, contents, signature }: DeviceInfo,
  record: string | undefined,
  context: Pick<StageContext, "recordFormatting">,
): Promise<boolean> {
  if (identity === undefined || record === undefined || signature !== undefined) return false;
  const licence = licenceOf(record);
  if (licence.identity === identity && licence.rest === contents) return true;
  const first = licence.identity === identity && licence.rest === null;
  await context.recordFormatting(first ? restRecord(identity, contents) : undefined);
  return first;
}

/** Whether an error proves that somebody else had a device, or wrote to it: what is read there now may be his. */
export function isSomebodys(error: unknown): boolean {
  return error instanceof VolumeError && (error.reason === "DeviceBusy" || error.reason === "DeviceNotEmpty");
}
