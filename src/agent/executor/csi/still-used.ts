import { basename, dirname } from "node:path";
import { joinPath, type MountIdentity } from "../../../host/mount-table/mount-table.ts";
import { PinnedUnknown } from "../../../host/ports/evidence.ts";
import type { Holder } from "../../../host/ports/host-ports.ts";
import type { VolumeName } from "../../model/identities.ts";
import type { DriverMounts } from "../../model/volume-record.ts";
import { refuseWhileHeld } from "../holders/held.ts";
import { heldBy, names, refuseClaimed, refuseOpen } from "../holders/mount-holders.ts";
import type { ActionContext } from "../operation-context.ts";

/**
 * Refuses while the node shows what the driver had mounted, or its device is in use (safety rule 6).
 * @param of `shared`: without NodeStageVolume others may use the volume here in their own right, as kubelet does
 * (safety rule 13)
 * @returns whether its device proves that nothing of it is open, also where no mount shows it
 */
export async function refuseWhileShown(
  context: ActionContext,
  volume: VolumeName,
  of: { readonly shown: DriverMounts; readonly block: boolean; readonly shared: boolean },
): Promise<boolean> {
  const { block, shared, shown } = of;
  const { identity, device } = shown;
  if (await isGone(context, device)) return true; // and all that showed it: the number may be another's by now
  await refuseWhileHeld(context, volume, identity, shared);
  if (!block && (await isOthersToo(context, identity))) return false;
  return refuseWhileUsed(context, device, block);
}

/**
 * A directory of a file system that is mounted somewhere besides: its disk is claimed in the right of others. Where
 * nobody shows the file system any more and its disk is claimed all the same, a file of it is open where no mount is
 * left to tell.
 */
async function isOthersToo({ host }: ActionContext, identity: MountIdentity): Promise<boolean> {
  return identity.root !== "/" && (await host.evidence.holders({ ...identity, root: "/" })).length > 0;
}

/**
 * Refuses while a private copy of the published mount is in another mount namespace. The driver removes the mount
 * point, which detaches the copy; files open in it would stay in use unnoticed (safety rule 6). Copies that receive
 * unmounts by propagation, in the driver's own namespace first of all, go by themselves.
 */
export async function refuseWhileCopied(context: ActionContext, path: string): Promise<void> {
  const holders = await copiesOf(context, path);
  if (holders.length === 0) return;
  const message = `${path} is still mounted in another mount namespace: ${names(holders)}. End these processes or unmount it there`;
  throw heldBy("StillReferenced", message, holders);
}

/** Private copies of what is mounted on a path, in other mount namespaces. */
export async function copiesOf({ host }: ActionContext, path: string): Promise<readonly Holder[]> {
  const table = await host.mountTable.read();
  const parent = table.identityOf(dirname(path));
  if (parent === undefined) return [];
  const point = { device: parent.device, root: joinPath(parent.root, basename(path)) };
  const mounted = table.layers(path).length > 0;
  const isCopy = (holder: Holder) => holder.onNode !== true && (!mounted || holder.private === true);
  const holders = await host.evidence.mountedOn(point).catch((error: unknown) => {
    throw error instanceof PinnedUnknown ? error.beside(error.holders.filter(isCopy)) : error;
  });
  return holders.filter(isCopy);
}

/**
 * @param opened whether an open file counts; for a file system only an exclusive claim does
 * @returns whether certainly no process uses it: some of those that have it open without a claim may not be visible
 */
export async function refuseWhileUsed(
  context: ActionContext,
  device: DriverMounts["device"],
  opened: boolean,
): Promise<boolean> {
  if (device === undefined) return false;
  if (await isGone(context, device)) return true;
  const { devices, mounter } = context.effects;
  const { number, path } = device;
  const node = await mounter.inspect({ root: context.settings.hostRoot, path });
  const isNode = node?.deviceNumber === number;
  if (isNode) await refuseClaimed(devices, { path, node: node.canonicalPath, number });
  if (opened) await refuseOpen(devices, { path, number });
  return isNode && !opened;
}

/** Whether another disk, or none, has the number by now. */
async function isGone({ host }: ActionContext, device: DriverMounts["device"]): Promise<boolean> {
  return device?.disk !== undefined && (await host.evidence.diskSequence(device.number)) !== device.disk;
}
