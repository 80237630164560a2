import type { ISCSIVolumeSource } from "../../api/types.gen.ts";
import { VolumeError } from "../../errors.ts";
import { type ISCSIInterface, type ISCSIPortal, portalText, samePortal } from "../../host/iscsi.ts";
import type { StageContext } from "../plugin.ts";
import type { Chap } from "./credentials.ts";
import { disksOf, type Lun, type LunPath, pathsOf, portalsOf } from "./lun.ts";

/** Milliseconds within which the kernel has a block device of a LUN that it was told to look for. */
const appearMs = 10_000;
/** Milliseconds within which multipathd has a map of several paths (kubelet: multipathDeviceTimeout). */
const mapMs = 10_000;

/** The device to use: one path, or what dm-multipath has made of several. */
export interface LunDevice {
  /** The kernel's name, in /dev. */
  readonly name: string;
  /** `major:minor` */
  readonly deviceNumber: string;
}

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
 *   somebody else's session shows it   its disk is used; nothing is ours, and nothing is undone
 *   else, at each portal               our session, logged in if there is none ─► the LUN looked for ─► its disk
 *
 * One portal is enough to go on (kubelet, too, mounts what it gets after a few attempts).
 * @throws VolumeError
 */
export async function attach(wanted: Wanted, context: StageContext): Promise<LunDevice> {
  const { iqn } = wanted.lun;
  const paths = await context.iscsi.exclusively(iqn, () => bringUp(wanted, context));
  refuseDifferent(wanted, paths);
  return deviceOf(wanted, paths, context);
}

async function bringUp(wanted: Wanted, context: StageContext): Promise<readonly LunPath[]> {
  const { lun, by, source } = wanted;
  const look = () => lookFor(lun, context);
  const foreign = (await look()).filter(({ session }) => session.interface !== by.name);
  if (foreign.length > 0) return foreign;
  const portals = portalsOf(source);
  const errors: VolumeError[] = [];
  for (const portal of portals) {
    try {
      await connect(wanted, portal, context);
    } catch (error) {
      // What the kernel has not let go of may still log in: one child of a volume at a time.
      if (!(error instanceof VolumeError) || error.reason === "OperationAbandoned") throw error;
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
    if (disks.some(({ address }) => address.lun === lun.lun)) return;
    if (disks.length > 0) throw unreachable(lun, portal, `its session is ${session.state}, and goes on by itself`);
    await iscsi.logout(session); // nobody has anything of it, and it may have been begun with a password of before
    session = undefined;
  }
  if (session === undefined) {
    await iscsi.login({ iqn: lun.iqn, portal, interface: by, ...chap });
    session = await ours();
  }
  if (session === undefined) throw unreachable(lun, portal, "the session has ended right after login");
  const disks = disksOf(session, (await scsi.look(hostRoot)).disks);
  if (disks.some(({ address }) => address.lun === lun.lun)) return;
  await scsi.scan({ host: session.host, channel: 0, target: 0, lun: lun.lun });
}

function unreachable({ iqn }: Lun, portal: ISCSIPortal, why: string): VolumeError {
  const name = portalText(portal);
  const message = `${iqn} at ${name} is not to be had: ${why}`;
  return new VolumeError("ServerUnreachable", "transient", message, { on: { kind: "Server", name } });
}

async function lookFor(lun: Lun, { iscsi, scsi, hostRoot }: StageContext): Promise<LunPath[]> {
  return pathsOf(lun, await iscsi.sessions(), (await scsi.look(hostRoot)).disks);
}

/** Portals that lead to different disks would be one volume by turns. */
function refuseDifferent({ lun }: Wanted, paths: readonly LunPath[]): void {
  const names = new Set(paths.map(({ disk }) => disk.wwid));
  if (names.size <= 1) return;
  const shown = paths.map(({ session, disk }) => `${portalText(session.portal)}: ${disk.wwid ?? "no name"}`).join(", ");
  const message = `the portals of ${lun.iqn} show different disks as LUN ${lun.lun} (${shown}): name only those of one`;
  throw new VolumeError("DiskAmbiguous", "final", message);
}

async function deviceOf(wanted: Wanted, paths: readonly LunPath[], context: StageContext): Promise<LunDevice> {
  const { scsi, hostRoot, iscsi } = context;
  const [first] = paths;
  if (first === undefined) throw new Error("there is a path");
  const made = paths.find(({ disk }) => disk.map !== undefined)?.disk.map;
  if (made !== undefined) return { name: made.device, deviceNumber: made.deviceNumber };
  const usable = paths.find(({ disk }) => disk.state === "running") ?? first;
  if (paths.length === 1) return usable.disk;
  const { multipathd } = await scsi.look(hostRoot);
  const map = async () => (await lookFor(wanted.lun, context)).find(({ disk }) => disk.map !== undefined)?.disk.map;
  const found = multipathd ? await iscsi.found(map, mapMs) : undefined;
  if (found !== undefined) return { name: found.device, deviceNumber: found.deviceNumber };
  const why = multipathd ? "multipathd has made no map of them" : "multipathd does not run on the node";
  context.progress(`${paths.length} paths, of which one is used, ${usable.disk.name}: ${why}`);
  return usable.disk;
}
