import { VolumeError } from "../../../errors.ts";
import type { MountEntry } from "../../../host/mount-table/mountinfo.ts";
import type { VolumeName } from "../../model/identities.ts";
import { type CSIRecord, type TargetRecord, withoutStage } from "../../model/volume-record.ts";
import { noteCopies, refuseWhileDetached } from "../holders/detached-copies.ts";
import { type ActionContext, isGiven, recordOf } from "../operation-context.ts";
import {
  callDriver,
  csiStageOf,
  driverNamed,
  refuseBeforeTime,
  refuseWhileActing,
  requireDriverReply,
  withAnswer,
} from "./driver-call.ts";
import { withShown } from "./driver-mounts.ts";
import { mountsIn } from "./paths.ts";
import { falseReply } from "./reply.ts";
import { copiesOf, refuseWhileCopied, refuseWhileShown, refuseWhileUsed } from "./still-used.ts";

/** NodeUnpublishVolume of a target, for good: no earlier call may still take effect. */
export async function unpublishByDriver(
  context: ActionContext,
  volume: VolumeName,
  target: TargetRecord,
): Promise<void> {
  refuseBeforeTime(context, recordOf(context, volume));
  const { published, pod } = target;
  if (published !== undefined && pod !== undefined)
    await noteCopies(context, volume, published.path, () => copiesOf(context, published.path));
  else if (published !== undefined && !isGiven(context)) await refuseWhileCopied(context, published.path);
  await nodeUnpublish(context, volume, target);
  refuseWhileActing(context, recordOf(context, volume));
}

/** NodeUnpublishVolume of a target. Done already, and never begun, are OK to the driver (CSI). */
export async function nodeUnpublish(
  context: ActionContext,
  volume: VolumeName,
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
 * Takes down what the driver staged, when nothing of it is published any more (law L3), and makes sure that nothing on
 * the node shows it. Cut off anywhere, it begins again: NodeUnstageVolume is OK to a driver that has nothing staged.
 * The record goes last.
 */
export async function unstageByDriver(context: ActionContext, volume: VolumeName): Promise<void> {
  const { journal, host, effects, settings } = context;
  const before = recordOf(context, volume);
  const { path, csi } = csiStageOf(before);
  if (csi.block) for (const { device } of csi.shown) await refuseWhileUsed(context, device, true);
  refuseBeforeTime(context, before);
  await unpublishStray(context, volume);
  const unstages = csi.needsUnstage && (await stagesStill(context, csi));
  if (csi.needsUnstage) {
    await refuseWhileCopied(context, path);
    const seen = await withShown(context, recordOf(context, volume), (await host.mountTable.read()).at(path));
    try {
      await callDriver(context, seen, "NodeUnstageVolume", (node) =>
        node.unstage({ volumeID: csi.volumeHandle, stagingPath: path }),
      );
      await journal.put(withAnswer(context, recordOf(context, volume)));
    } catch (error) {
      const refused = error instanceof VolumeError && error.errorClass === "final";
      if (unstages || !refused) throw error;
    }
  }
  const [left] = (await host.mountTable.read()).beneath(csi.directory);
  if (left !== undefined) throw leftBy(csi, unstages, left);
  await requireDriverReply(context, volume);
  refuseWhileActing(context, recordOf(context, volume));
  const ended: boolean[] = [];
  for (const shown of csiStageOf(recordOf(context, volume)).csi.shown)
    ended.push(await refuseWhileShown(context, volume, { shown, block: csi.block, shared: !unstages }));
  if (ended.length === 0 || ended.includes(false)) await refuseWhileDetached(context, recordOf(context, volume));
  for (const directory of [path, mountsIn(csi.directory), csi.directory]) {
    await effects.mounter.removeTarget({ prefix: settings.csiDir, path: directory }, "directory");
  }
  await journal.put(withoutStage(recordOf(context, volume)));
}

/** Publish paths without a record, or that a late call has filled: nobody else mounts there (safety rule 24). */
async function unpublishStray(context: ActionContext, volume: VolumeName): Promise<void> {
  const { csi } = csiStageOf(recordOf(context, volume));
  const paths = (await context.host.mountTable.read()).beneath(mountsIn(csi.directory)).map(({ point }) => point);
  for (const path of new Set(paths)) {
    await refuseWhileCopied(context, path);
    const kind = csi.block ? "file" : "directory";
    await nodeUnpublish(context, volume, { published: { path, readOnly: false }, kind });
  }
}

/**
 * Whether the driver still has NodeUnstageVolume. A driver without it, or one that never had it while the record was
 * lost, may refuse the call; the mount table alone shows then whether something is staged (kubelet: csi_attacher.go,
 * UnmountDevice, does not check). It is called all the same, because its reply ends the uncertainty about an earlier
 * call without one (safety rule 8).
 */
async function stagesStill(context: ActionContext, { driver }: CSIRecord): Promise<boolean> {
  return (await driverNamed(context, driver).node.capabilities()).stageUnstage;
}

function leftBy({ driver, needsUnstage }: CSIRecord, unstages: boolean, { point }: MountEntry): VolumeError {
  const call = unstages ? "NodeUnstageVolume" : "NodeUnpublishVolume";
  if (unstages === needsUnstage) return falseReply(driver, call, `${point} is mounted still`, point);
  const message = `${driver} does not unstage volumes any more (STAGE_UNSTAGE_VOLUME), and what it has staged is mounted still: unmount ${point}`;
  return new VolumeError("StillReferenced", "transient", message, { on: { kind: "Mount", name: point } });
}
