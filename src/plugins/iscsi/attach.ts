import type { ISCSIVolumeSource } from "../../api/types.gen.ts";
import { isAbandoned, VolumeError } from "../../errors.ts";
import { type ISCSIInterface, type ISCSIPortal, portalText, samePortal } from "../../host/ports/iscsi.ts";
import { isLun, type ScsiDisk, scanFor } from "../../host/ports/scsi.ts";
import type { StageContext } from "../api/volume-plugin.ts";
import type { Chap } from "./credentials.ts";
import { disksOf, isOwnSession, type Lun, type LunPath, pathsOf, portalsOf } from "./lun.ts";

/** Milliseconds within which the kernel has a block device of a LUN that it was told to look for. */
const appearMs = 10_000;
/** What is brought up: the volume's LUN, and what it takes to get there. */
export interface Wanted {
  readonly lun: Lun;
  readonly source: ISCSIVolumeSource;
  readonly by: ISCSIInterface;
  readonly chap: Chap;
}

/**
 * Brings the LUN to the node, once: a session at each portal, and of it this LUN alone.
 *
 *   somebody else's session at one of the portals shows it, and no CHAP is asked for
 *                                      its disk is used; nothing is ours, and nothing is undone
 *   else, at each portal               our session, logged in if there is none ─► the LUN looked for ─► its disk
 *
 * One portal is enough to go on (kubelet, too, mounts what it gets after a few attempts).
 * @returns the paths to it, at least one
 * @throws VolumeError
 */
export async function attach(wanted: Wanted, context: StageContext): Promise<readonly ScsiDisk[]> {
  const { iqn } = wanted.lun;
  const paths = await context.iscsi.exclusively(iqn, () => bringUp(wanted, context));
  refuseDifferent(wanted, paths);
  await refuseOtherWays(wanted, paths, context);
  return paths.map(({ disk }) => disk);
}

/** The paths to the LUN, as they are now. */
export async function pathsNow(lun: Lun, context: StageContext): Promise<readonly ScsiDisk[]> {
  return (await lookFor(lun, context)).map(({ disk }) => disk);
}

async function bringUp(wanted: Wanted, context: StageContext): Promise<readonly LunPath[]> {
  const { lun, by, source } = wanted;
  const look = () => lookFor(lun, context);
  const foreign = (await look()).filter(({ session }) => session.interface !== by.name);
  if (foreign.length > 0) return mayBeUsed(wanted, foreign);
  const portals = portalsOf(source);
  const errors: VolumeError[] = [];
  for (const portal of portals) {
    try {
      await connect(wanted, portal, context);
    } catch (error) {
      // A child that was abandoned may still log in: one of a volume at a time.
      if (!(error instanceof VolumeError) || isAbandoned(error)) throw error;
      errors.push(error);
    }
  }
  const expected = portals.length - errors.length;
  const all = async () => {
    const paths = await look();
    return paths.length >= expected ? paths : undefined;
  };
  const paths = expected === 0 ? await look() : ((await context.iscsi.found(all, appearMs)) ?? (await look()));
  const [first] = errors.sort((a, b) => Number(tells(b)) - Number(tells(a)));
  if (paths.length === 0 && first !== undefined) throw first;
  for (const { message } of errors) context.progress(`a path is missing: ${message}`);
  if (paths.length > 0) return paths;
  const message = `${lun.iqn} shows no LUN ${lun.lun} to this node: correct lun, or let this node's initiator see it`;
  throw new VolumeError("DiskNotFound", "transient", message, { on: { kind: "Server", name: source.targetPortal } });
}

/** Who has proved who they are, or is another initiator, may be let see more than this volume. */
function mayBeUsed({ lun, source }: Wanted, foreign: readonly LunPath[]): readonly LunPath[] {
  const whose = foreign.find(({ session }) => isOwnSession(session));
  if (whose === undefined && source.chapAuthSession !== true) return foreign;
  const why =
    whose === undefined
      ? "by a session that this operator did not open, and the volume requires its own CHAP login: log out of that session"
      : "for another volume, by another initiator, interface or Secret: release that one, or let both name the same";
  throw inUse(lun, foreign, why);
}

/** Two disks of one LUN have two caches, and a claim of one keeps nobody off the other. */
async function refuseOtherWays({ lun }: Wanted, paths: readonly LunPath[], context: StageContext): Promise<void> {
  const { iscsi, scsi, hostRoot } = context;
  const all = pathsOf({ iqn: lun.iqn, lun: lun.lun }, await iscsi.sessions(), (await scsi.look(hostRoot)).disks);
  const others = all
    .filter(({ disk }) => paths.every((path) => path.disk.name !== disk.name))
    .filter(({ disk: { wwid } }) => paths.some(({ disk }) => (wwid ?? disk.wwid) === (disk.wwid ?? wwid)));
  if (others.length === 0) return;
  throw inUse(lun, others, "by a portal or session that is not this volume's: name it, too, or log out of it");
}

function inUse(lun: Lun, paths: readonly LunPath[], why: string): VolumeError {
  const [first] = paths;
  const shown = paths.map(({ session, disk }) => `/dev/${disk.name} at ${portalText(session.portal)}`).join(", ");
  const message = `LUN ${lun.lun} of ${lun.iqn} is on the node as ${shown}, ${why}`;
  return new VolumeError("DeviceBusy", "transient", message, {
    on: { kind: "Device", name: `/dev/${first?.disk.name}` },
  });
}

/** Whether it says more than that nobody answers. */
function tells({ reason }: VolumeError): boolean {
  return reason !== "ServerUnreachable" && reason !== "TimedOut";
}

/** A session of ours at one portal, in which the LUN was looked for. */
async function connect({ lun, by, chap }: Wanted, portal: ISCSIPortal, context: StageContext): Promise<void> {
  const { iscsi, scsi, hostRoot } = context;
  const ours = async () =>
    (await iscsi.sessions()).find(
      (session) => session.iqn === lun.iqn && session.interface === by.name && samePortal(session.portal, portal),
    );
  let session = await ours();
  if (session !== undefined && session.state !== "LOGGED_IN") {
    const disks = disksOf(session, (await scsi.look(hostRoot)).disks);
    if (disks.some(({ address }) => isLun(address.lun, lun.lun))) return;
    if (disks.length > 0) throw unreachable(lun, portal, `its session is ${session.state}, and recovers by itself`);
    await iscsi.logout(session); // nobody has anything of it, and it may have been begun with a password of before
    session = undefined;
  }
  if (session === undefined) {
    await iscsi.login({ iqn: lun.iqn, portal, interface: by, ...chap });
    session = await ours();
  }
  if (session === undefined) throw unreachable(lun, portal, "the session has ended right after login");
  const disks = disksOf(session, (await scsi.look(hostRoot)).disks);
  if (disks.some(({ address }) => isLun(address.lun, lun.lun))) return;
  await scsi.scan(scanFor({ host: session.host, channel: 0, target: 0 }, lun.lun));
}

function unreachable({ iqn }: Lun, portal: ISCSIPortal, why: string): VolumeError {
  const name = portalText(portal);
  const message = `${iqn} at ${name} is unavailable: ${why}`;
  return new VolumeError("ServerUnreachable", "transient", message, { on: { kind: "Server", name } });
}

async function lookFor(lun: Lun, { iscsi, scsi, hostRoot }: StageContext): Promise<LunPath[]> {
  return pathsOf(lun, await iscsi.sessions(), (await scsi.look(hostRoot)).disks);
}

/** Portals that lead to different disks would be one volume by turns. What does not say what it is may be different. */
function refuseDifferent({ lun }: Wanted, paths: readonly LunPath[]): void {
  const names = new Set(paths.map(({ disk }) => disk.wwid));
  if (paths.length <= 1 || (names.size === 1 && !names.has(undefined))) return;
  const shown = paths.map(({ session, disk }) => `${portalText(session.portal)}: ${disk.wwid ?? "no name"}`).join(", ");
  const message = `the portals of ${lun.iqn} show different disks as LUN ${lun.lun} (${shown}): name only those of one`;
  throw new VolumeError("DiskAmbiguous", "final", message);
}
