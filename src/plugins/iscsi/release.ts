import { VolumeError } from "../../errors.ts";
import type { ISCSISession } from "../../host/iscsi.ts";
import type { MultipathMap } from "../../host/scsi.ts";
import type { Undo, UndoContext } from "../plugin.ts";
import { disksOf, type LunPath, lunOf, pathsOf } from "./lun.ts";

/**
 * Takes the LUN off the node: the multipath map over it, each of its disks in sessions of ours, and then each session of ours that no
 * disk is left of. Nobody's else sessions and disks are touched.
 */
export async function detach(undo: Undo, context: UndoContext): Promise<void> {
  const lun = lunOf(undo);
  const { iscsi, scsi, hostRoot } = context;
  await iscsi.exclusively(lun.iqn, async () => {
    const ours = (await iscsi.sessions()).filter(
      ({ iqn, interface: name }) => iqn === lun.iqn && name === lun.interface,
    );
    const { disks } = await scsi.look(hostRoot);
    const paths = pathsOf(lun, ours, disks);
    for (const map of mapsOver(paths)) await scsi.flushMap(map);
    for (const { session, disk } of paths) {
      // The kernel would wait for a server that is gone to write out its cache; with the session the disk goes at once.
      if (isDead(session) && disksOf(session, disks).length === 1) continue;
      await scsi.remove(disk, hostRoot);
    }
    const left = (await scsi.look(hostRoot)).disks;
    for (const session of ours) {
      const others = disksOf(session, left).filter(
        (disk) => !(isDead(session) && paths.some((p) => p.disk.name === disk.name)),
      );
      if (others.length === 0) await logout(session, context);
    }
  });
}

function isDead({ state }: ISCSISession): boolean {
  return state !== "LOGGED_IN";
}

function mapsOver(paths: readonly LunPath[]): MultipathMap[] {
  const maps = paths.flatMap(({ disk }) => disk.map ?? []);
  return maps.filter((map, at) => maps.findIndex(({ device }) => device === map.device) === at);
}

async function logout(session: ISCSISession, { iscsi }: UndoContext): Promise<void> {
  await iscsi.logout(session);
  if ((await iscsi.sessions()).every(({ number }) => number !== session.number)) return;
  const message = `iscsiadm has logged out of ${session.iqn}, but its session ${session.number} is there still`;
  throw new VolumeError("TearDownFailed", "transient", message);
}
