import { VolumeError } from "../../errors.ts";
import { type MountIdentity, mountIdentity } from "../../host/mount-table/mount-table.ts";
import type { UnmountMode } from "../../host/ports/host-ports.ts";
import { isOfServer } from "../../host/ports/servers.ts";
import type { VolumeName } from "../model/identities.ts";
import { dataPath } from "../model/plan-input.ts";
import { type StageRecord, type VolumeRecord, withoutStage } from "../model/volume-record.ts";
import { unstageByDriver } from "./csi/unpublish.ts";
import { refuseWhileDetached } from "./holders/detached-copies.ts";
import { refuseWhileHeld } from "./holders/held.ts";
import { refuseClaimed, refuseOpen } from "./holders/mount-holders.ts";
import { type ActionContext, allowedTarget, recordOf, stagingTarget } from "./operation-context.ts";
import { detachByPlugin, unmountByPlugin } from "./plugin-teardown.ts";
import { unmount } from "./publish.ts";

/**
 * Unstages a volume, when it has no target left (law L3):
 * 1. unmount the staged file system
 * 2. wait until no mount namespace of the node shows it and no process has the device open (safety rule 6); this cannot
 *    be checked for a path of the host, because others may show it independently
 * 3. have the plugin undo what it did besides the mount, if anything
 * 4. remove the directories that were made for it; data is moved to the trash first
 *
 * If it is cut off anywhere, it begins again from the start. The record is removed last: until then the volume counts
 * as in use.
 */
export async function unstage(
  context: ActionContext,
  volume: VolumeName,
  action: { readonly mountID?: number; readonly unmountMode: UnmountMode },
): Promise<void> {
  const record = recordOf(context, volume);
  if (record.stage?.csi !== undefined) return unstageByDriver(context, volume);
  const target = stagingTarget(context, record);
  const stage: StageRecord = record.stage ?? { kind: "filesystem", path: target.path, ready: false, options: [] };
  context.host.servers?.giveUp(target.path); // who asks keeps the mount busy (decision 0042)
  if (stage.detaching !== true) {
    const shown = await unmountStage(context, volume, stage, action);
    if (shown !== undefined) await refuseWhileHeld(context, volume, shown, isServed(record, shown));
    if (stage.deviceNumber !== undefined) await refuseWhileOpen(context, stage, stage.deviceNumber);
    // A file system whose device could be claimed has ended, whatever was detached; a device may be open without a
    // claim.
    const { kind, deviceNumber } = stage;
    if (deviceNumber === undefined || kind === "device") await refuseWhileDetached(context, recordOf(context, volume));
  }
  await detachByPlugin(context, volume, action.unmountMode);
  if (stage.kind === "filesystem") await context.effects.mounter.removeTarget(target, "directory");
  if (stage.kind === "directory") await removeData(context, dataPath(context.settings, record), stage);
  await context.journal.put(withoutStage(recordOf(context, volume)));
}

/** Whether it is of a server, of which others may mount the same in their own right. */
function isServed({ type }: VolumeRecord, { source }: MountIdentity): boolean {
  return type === "nfs" || type === "cifs" || (type === "flexVolume" && source !== undefined && isOfServer(source));
}

/** Drops the record of a volume of which nothing is mounted any more, and the mount points that we made for it. */
export async function forget(context: ActionContext, volume: VolumeName): Promise<void> {
  const record = context.journal.records.get(volume);
  const { mounter } = context.effects;
  for (const { path, kind, made } of record?.targets ?? []) {
    const target = allowedTarget(context, path);
    if (made && target !== undefined) await mounter.removeTarget(target, kind);
  }
  if (record?.stage?.kind === "filesystem") await mounter.removeTarget(stagingTarget(context, record), "directory");
  await context.journal.forget(volume);
}

/** @returns what no mount of the node may show any more */
async function unmountStage(
  context: ActionContext,
  volume: VolumeName,
  stage: StageRecord,
  { mountID, unmountMode }: { readonly mountID?: number; readonly unmountMode: UnmountMode },
): Promise<MountIdentity | undefined> {
  const target = stagingTarget(context, recordOf(context, volume));
  if (stage.kind === "path") return undefined;
  if (stage.kind === "device") return stage.identity;
  if (stage.kind === "swap") return turnOff(context, volume, stage);
  const mount = (await context.host.mountTable.read()).at(target.path);
  const identity = stage.identity ?? (mount && mountIdentity(mount));
  await context.journal.put({
    ...recordOf(context, volume),
    stage: { ...stage, ready: false, ...(identity && { identity }) },
  });
  const unmounted = await unmountByPlugin(context, volume, unmountMode);
  if (stage.kind === "filesystem" && mountID !== undefined && !unmounted)
    await unmount(context, target, mountID, unmountMode);
  return identity;
}

/**
 * swapoff reads back the swapped-out pages first. That may take long (half an hour at most, then it is retried), or
 * fail for lack of memory.
 */
async function turnOff(context: ActionContext, volume: VolumeName, stage: StageRecord): Promise<undefined> {
  const { deviceNumber } = stage;
  await context.journal.put({ ...recordOf(context, volume), stage: { ...stage, ready: false } });
  if (deviceNumber === undefined) return;
  const path = stage.devicePath ?? stage.found?.path ?? stage.path;
  await context.effects.swaps.off({ path, deviceNumber }, context.progress);
}

/**
 * A file system lives on while anything on it is open, also where no mount is left of it: its device is claimed then. A
 * device that was bound as it is may be open without a claim. One that was pulled is held by nobody: neither its node
 * nor its number is there to be asked.
 */
async function refuseWhileOpen(context: ActionContext, stage: StageRecord, deviceNumber: string): Promise<void> {
  const { devices, mounter } = context.effects;
  const path = stage.devicePath ?? stage.found?.path ?? stage.path;
  const node = await mounter.inspect({ root: "/", path });
  if (node?.deviceNumber !== deviceNumber) {
    if (!(await context.host.evidence.hasBlockDevice(deviceNumber))) return;
    const message = `${path} does not stand for the device ${deviceNumber} any more, which is still there: bring its node back, or pull it`;
    throw new VolumeError("DeviceBusy", "transient", message, { on: { kind: "Device", name: deviceNumber } });
  }
  await refuseClaimed(devices, { path, node: path, number: deviceNumber });
  if (stage.kind === "device") await refuseOpen(devices, { path, number: deviceNumber });
}

/** A directory that was never seen after it was made, or is another one by now, goes only if it is empty. */
async function removeData({ host }: ActionContext, path: string, { directory, inode }: StageRecord): Promise<void> {
  const there = directory ?? (await host.directories.identify(path));
  if (directory === undefined && (there === undefined || there.inode !== inode)) await host.directories.remove(path);
  else if (there !== undefined) await host.directories.discard(path, there);
}
