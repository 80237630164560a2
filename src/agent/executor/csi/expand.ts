import type { Reason } from "../../../api/reasons.ts";
import { VolumeError } from "../../../errors.ts";
import type { CSIVolume } from "../../../plugins/api/volume-plugin.ts";
import { stillPublished } from "../../actual/published-mount.ts";
import type { VolumeName } from "../../model/identities.ts";
import { type ActionContext, recordOf, wanted } from "../operation-context.ts";
import { capabilityOf } from "./capability.ts";
import { callDriver, csiStageOf, driverNamed, withAnswer, withCSI } from "./driver-call.ts";
import { falseReply } from "./reply.ts";

/**
 * Has the driver grow what is on the node, by a target that may be written to. Called once also for a volume that has
 * its size from the start: only the driver knows. A driver without EXPAND_VOLUME has nothing to do on the node.
 */
export async function expandByDriver(context: ActionContext): Promise<void> {
  const desired = wanted(context);
  const { capacityBytes, layout } = desired;
  if (layout.csi === undefined || capacityBytes === undefined) throw new Error("there is no size to grow to");
  const volume = layout.csi;
  const { node } = driverNamed(context, volume.driver);
  const capabilities = await node.capabilities();
  if (capabilities.expand) {
    const { expand: secret } = volume.secrets;
    const secrets = secret === undefined ? new Map() : await context.csi.secret(secret);
    const path = await pathToGrow(context, desired.name);
    const record = recordOf(context, desired.name);
    const { path: stagingPath, csi } = csiStageOf(record);
    const before = csi.capacityBytes === undefined ? undefined : await sizeOf(context, volume, path);
    const request = {
      volumeID: volume.volumeHandle,
      volumePath: path,
      ...(capabilities.stageUnstage && { stagingPath }),
      requiredBytes: capacityBytes,
      capability: capabilityOf(volume, capabilities, csi),
      secrets,
    };
    try {
      await callDriver(context, record, "NodeExpandVolume", (service) => service.expand(request));
    } catch (error) {
      await rememberRefusal(context, desired.name, capacityBytes, error);
      throw error;
    }
    await context.journal.put(withAnswer(context, recordOf(context, desired.name)));
    if (csi.capacityBytes !== undefined) {
      await refuseUnchanged(context, volume, { path, before, capacityBytes, reached: csi.capacityBytes });
    }
  }
  await context.journal.put(withCSI(recordOf(context, desired.name), { capacityBytes }));
}

/** Failures that the same size meets again until the volume is staged anew (behaviours 73, 74). */
const lasting: readonly Reason[] = ["VolumeInUse", "ExpansionInfeasible"];

async function rememberRefusal(
  context: ActionContext,
  volume: VolumeName,
  capacityBytes: string,
  error: unknown,
): Promise<void> {
  if (!(error instanceof VolumeError) || !lasting.includes(error.reason)) return;
  const { reason, message } = error;
  await context.journal.put(withCSI(recordOf(context, volume), { refused: { capacityBytes, reason, message } }));
}

/** A publish path that is not read-only: CSI has it grown by where it is published. */
async function pathToGrow(context: ActionContext, volume: VolumeName): Promise<string> {
  const table = await context.host.mountTable.read();
  const found = recordOf(context, volume).targets.find(
    ({ published }) => published?.readOnly === false && stillPublished(published, table) !== undefined,
  );
  if (found?.published !== undefined) return found.published.path;
  throw new VolumeError("SetUpFailed", "transient", "nothing is published any more that could be grown");
}

/** Size of the file system in bytes; undefined of a device. Asked in a child, as its server or disk may not answer. */
async function sizeOf({ effects }: ActionContext, { block }: CSIVolume, path: string): Promise<number | undefined> {
  return block ? undefined : effects.mounter.sizeOf({ root: "/", path });
}

/** A file system is a little smaller than its device; one that was to grow and is as large as before has not grown. */
async function refuseUnchanged(
  context: ActionContext,
  volume: CSIVolume,
  size: { path: string; before: number | undefined; capacityBytes: string; reached: string },
): Promise<void> {
  const { path, before, capacityBytes, reached } = size;
  const after = await sizeOf(context, volume, path);
  if (before === undefined || after === undefined || after > before || after > Number(reached)) return;
  const instead = `the file system on ${path} has ${after} bytes as before, not about ${capacityBytes}`;
  throw falseReply(volume.driver, "NodeExpandVolume", instead, path);
}
