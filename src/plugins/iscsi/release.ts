import { VolumeError } from "../../errors.ts";
import type { ISCSISession } from "../../host/ports/iscsi.ts";
import type { TearDownContext } from "../api/teardown.ts";
import type { TearDownData } from "../api/teardown-data.ts";
import { mapOver } from "../scsi/device-of.ts";
import { disksOf, isAmong, type Lun, type LunPath, lunOf, pathsOf } from "./lun.ts";

/**
 * Takes the LUN off the node: the multipath map over it, each of its disks in sessions of ours, and then each session
 * of ours that no disk is left of. Nobody's else sessions and disks are touched, nor those that another volume has on
 * record, too: the last one to go takes them away.
 * @throws VolumeError DeviceBusy, also of a disk whose server is gone: who has it loses it no sooner than the kernel
 * says so
 */
export async function detach(undo: TearDownData, context: TearDownContext): Promise<void> {
  const lun = lunOf(undo);
  const { iscsi, scsi, hostRoot } = context;
  await iscsi.exclusively(lun.iqn, async () => {
    const ours = (await iscsi.sessions()).filter(
      ({ iqn, interface: name, portal }) => iqn === lun.iqn && name === lun.interface && isAmong(portal, lun.portals),
    );
    const { disks } = await scsi.look(hostRoot);
    const seen = pathsOf(lun, ours, disks);
    const others = context.others().map(lunOf);
    const paths = seen.filter((path) => !others.some((other) => isOf(other, lun, path)));
    const map = mapOver(seen.map(({ disk }) => disk));
    if (map !== undefined && paths.length === seen.length) await scsi.flushMap(map);
    for (const { session, disk } of paths) {
      // The kernel would wait for a server that is gone to write out its cache; with the session the disk goes at once.
      const withSession = isDead(session) && disksOf(session, disks).length === 1;
      await (withSession ? scsi.refuseUsed(disk, hostRoot) : scsi.remove(disk, hostRoot));
    }
    const left = (await scsi.look(hostRoot)).disks;
    for (const session of ours) {
      const more = disksOf(session, left).filter(
        (disk) => !(isDead(session) && paths.some((p) => p.disk.name === disk.name)),
      );
      if (more.length === 0) await logout(session, context);
    }
  });
}

function isDead({ state }: ISCSISession): boolean {
  return state !== "LOGGED_IN";
}

/** Whether another volume has this path to the same LUN. */
function isOf(other: Lun, { iqn, lun, interface: name }: Lun, { session }: LunPath): boolean {
  const same = other.iqn === iqn && other.lun === lun && other.interface === name;
  return same && isAmong(session.portal, other.portals);
}

async function logout(session: ISCSISession, { iscsi }: TearDownContext): Promise<void> {
  await iscsi.logout(session);
  if ((await iscsi.sessions()).every(({ number }) => number !== session.number)) return;
  const message = `iscsiadm has logged out of ${session.iqn}, but its session ${session.number} is there still`;
  throw new VolumeError("TearDownFailed", "transient", message);
}
