import { VolumeError } from "../../errors.ts";
import { type ActionContext, recordOf } from "../actions/context.ts";
import { refuseWhileHeld } from "../actions/held.ts";
import { names, pids, processOf } from "../actions/users.ts";
import { type CSIRecord, type ShownByDriver, type TargetRecord, withoutStage } from "../record.ts";
import { callDriver, csiStageOf, refuseBeforeTime, refuseWhileActing, withAnswer } from "./driver-call.ts";
import { mountsIn } from "./paths.ts";
import { falseReply } from "./reply.ts";
import { withShown } from "./shown.ts";

/** Has the driver take back what it published for a target, for good: nothing that it was asked may still take effect. */
export async function unpublishByDriver(context: ActionContext, volume: string, target: TargetRecord): Promise<void> {
  refuseBeforeTime(context, recordOf(context, volume));
  await takeBack(context, volume, target);
  refuseWhileActing(context, recordOf(context, volume));
}

/** Has the driver take back what it published for a target. Done already, and never begun, are OK to it (CSI). */
export async function takeBack(
  context: ActionContext,
  volume: string,
  { published, kind }: Pick<TargetRecord, "published" | "kind">,
): Promise<void> {
  if (published === undefined) return;
  const { path } = published;
  const { journal, host, effects, settings } = context;
  const before = recordOf(context, volume);
  const { csi } = csiStageOf(before);
  const seen = await withShown(context, before, (await host.mountTable.read()).at(path));
  await callDriver(context, seen, "NodeUnpublishVolume", (node) =>
    node.unpublish({ volumeID: csi.volumeHandle, targetPath: path }),
  );
  await journal.put(withAnswer(context, recordOf(context, volume)));
  if ((await host.mountTable.read()).layers(path).length > 0) {
    throw falseReply(csi.driver, "NodeUnpublishVolume", `${path} is mounted still`, path);
  }
  await effects.mounter.removeTarget({ prefix: settings.csiDir, path }, kind);
}

/**
 * Takes down what the driver staged, when nothing of it is published any more (law L3), and makes sure that nothing on the node
 * shows it. Cut off anywhere, it begins again: NodeUnstageVolume is OK to a driver that has nothing staged. The record goes last.
 */
export async function unstageByDriver(context: ActionContext, volume: string): Promise<void> {
  const { journal, host, effects, settings } = context;
  const before = recordOf(context, volume);
  const { path, csi } = csiStageOf(before);
  if (csi.block) for (const { device } of csi.shown) await refuseWhileUsed(context, device, true);
  refuseBeforeTime(context, before);
  await takeBackStray(context, volume);
  if (csi.needsUnstage) {
    const seen = await withShown(context, recordOf(context, volume), (await host.mountTable.read()).at(path));
    await callDriver(context, seen, "NodeUnstageVolume", (node) =>
      node.unstage({ volumeID: csi.volumeHandle, stagingPath: path }),
    );
    await journal.put(withAnswer(context, recordOf(context, volume)));
  }
  const [left] = (await host.mountTable.read()).beneath(csi.directory);
  if (left !== undefined) {
    const call = csi.needsUnstage ? "NodeUnstageVolume" : "NodeUnpublishVolume";
    throw falseReply(csi.driver, call, `${left.point} is mounted still`, left.point);
  }
  refuseWhileActing(context, recordOf(context, volume));
  for (const shown of csiStageOf(recordOf(context, volume)).csi.shown)
    await refuseWhileShown(context, volume, csi, shown);
  for (const directory of [path, mountsIn(csi.directory), csi.directory]) {
    await effects.mounter.removeTarget({ prefix: settings.csiDir, path: directory }, "directory");
  }
  await journal.put(withoutStage(recordOf(context, volume)));
}

/** Publish paths of which no record is left, or that a late call has filled: nobody else mounts there (safety rule 24). */
async function takeBackStray(context: ActionContext, volume: string): Promise<void> {
  const { csi } = csiStageOf(recordOf(context, volume));
  const paths = (await context.host.mountTable.read()).beneath(mountsIn(csi.directory)).map(({ point }) => point);
  for (const path of new Set(paths)) {
    await takeBack(context, volume, { published: { path, readOnly: false }, kind: csi.block ? "file" : "directory" });
  }
}

/** Refuses while the node shows what the driver had mounted, or its device is in use (safety rule 6). */
async function refuseWhileShown(
  context: ActionContext,
  volume: string,
  { block, needsUnstage }: CSIRecord,
  { identity, device }: ShownByDriver,
): Promise<void> {
  if (await isGone(context, device)) return; // and all that showed it: the number may be another's by now
  // Without NodeStageVolume others may use the volume here in their own right, as kubelet does (safety rule 13).
  await refuseWhileHeld(context, volume, identity, !needsUnstage);
  await refuseWhileUsed(context, device, block);
}

/** @param opened whether it is enough that somebody has it open: of a file system only a claim counts */
async function refuseWhileUsed(
  context: ActionContext,
  device: ShownByDriver["device"],
  opened: boolean,
): Promise<void> {
  if (device === undefined || (await isGone(context, device))) return;
  const { devices, mounter } = context.effects;
  const { number, path } = device;
  const node = await mounter.inspect({ root: context.settings.hostRoot, path });
  const claim = node?.deviceNumber === number ? await devices.claim(node.canonicalPath, number) : undefined;
  if (claim !== undefined) {
    throw new VolumeError("DeviceBusy", "transient", claim, { on: { kind: "Device", name: path } });
  }
  const openers = opened ? await devices.openers(number) : [];
  const [first] = openers;
  if (first === undefined) return;
  const message = `${path} is open: ${names(openers)}. End these processes`;
  throw new VolumeError("DeviceBusy", "transient", message, { on: processOf(first), heldBy: pids(openers) });
}

/** Whether another disk, or none, has the number by now. */
async function isGone({ host }: ActionContext, device: ShownByDriver["device"]): Promise<boolean> {
  return device?.disk !== undefined && (await host.evidence.diskSequence(device.number)) !== device.disk;
}
