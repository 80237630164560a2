import { hash } from "node:crypto";
import type { ISCSIVolumeSource } from "../../api/types.gen.ts";
import {
  type ISCSIInterface,
  type ISCSIPortal,
  type ISCSISession,
  portalOf,
  portalText,
  samePortal,
} from "../../host/ports/iscsi.ts";
import { isLun, type ScsiDisk } from "../../host/ports/scsi.ts";
import type { TearDownData } from "../api/teardown-data.ts";

/** One LUN of a target, and the interface by which sessions are ours: all that its release needs. */
export interface Lun {
  readonly iqn: string;
  readonly lun: number;
  readonly interface: string;
  /** Where it is had, and nowhere else; undefined: a record of before does not say. */
  readonly portals?: readonly ISCSIPortal[];
}

/** A disk by which the LUN is seen, and the session that it comes by. */
export interface LunPath {
  readonly session: ISCSISession;
  readonly disk: ScsiDisk;
}

/** The record's data for the logout from an iSCSI LUN: texts only. */
export function tearDownDataOf({ iqn, lun, interface: name, portals }: Lun): TearDownData {
  const where = portals === undefined ? {} : { portals: portals.map(portalText).join(" ") };
  return { iqn, lun: `${lun}`, interface: name, ...where };
}

/** @throws Error if it was written by another plugin, or is damaged */
export function lunOf({ iqn, lun, interface: name, portals }: TearDownData): Lun {
  if (iqn === undefined || lun === undefined || name === undefined) {
    throw new Error("what an iSCSI volume has to undo is damaged: it names no iqn, lun or interface");
  }
  const where = portals === undefined ? {} : { portals: portals.split(" ").map(portalOf) };
  return { iqn, lun: Number(lun), interface: name, ...where };
}

/**
 * The interface of all sessions that are ours, and of one configuration and Secret: whoever else logs in to the same
 * target has a session of another name, and volumes with the same have one session.
 */
export function interfaceOf(source: ISCSIVolumeSource): ISCSIInterface {
  const { iscsiInterface: like = "default", initiatorName, chapAuthSession = false, secretRef } = source;
  const secret = chapAuthSession && secretRef ? [secretRef.namespace, secretRef.name] : [];
  const name = hash("sha256", JSON.stringify([like, initiatorName ?? "", ...secret]), "hex").slice(0, 16);
  return { name: `${prefix}${name}`, like, ...(initiatorName !== undefined && { initiatorName }) };
}

const prefix = "nodevolume-";

/** Whether a session is of this operator, whatever volume it is for. */
export function isOwnSession({ interface: name }: ISCSISession): boolean {
  return name.startsWith(prefix);
}

/** All that the target is asked for at, each once. */
export function portalsOf({ targetPortal, portals = [] }: ISCSIVolumeSource): ISCSIPortal[] {
  const all = [targetPortal, ...portals].map(portalOf);
  return all.filter((portal, at) => all.findIndex((other) => samePortal(other, portal)) === at);
}

/** How a LUN is seen on the node, by whomever, at these portals if any are named. */
export function pathsOf(
  { iqn, lun, portals }: Pick<Lun, "iqn" | "lun" | "portals">,
  sessions: readonly ISCSISession[],
  disks: readonly ScsiDisk[],
): LunPath[] {
  return sessions
    .filter((session) => session.iqn === iqn && isAmong(session.portal, portals))
    .flatMap((session) =>
      disksOf(session, disks)
        .filter(({ address }) => isLun(address.lun, lun))
        .map((disk) => ({ session, disk })),
    );
}

/** Whether a portal is one of these; undefined: any is. */
export function isAmong(portal: ISCSIPortal, portals: Lun["portals"]): boolean {
  return portals === undefined || portals.some((one) => samePortal(one, portal));
}

/** For people. */
export function lunText({ iqn, lun }: Pick<Lun, "iqn" | "lun">): string {
  return `LUN ${lun} of ${iqn}`;
}

/** The disks of an iSCSI session. */
export function disksOf({ host }: ISCSISession, disks: readonly ScsiDisk[]): ScsiDisk[] {
  return disks.filter(({ address }) => address.host === host);
}
