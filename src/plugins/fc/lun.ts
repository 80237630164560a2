import type { FCVolumeSource } from "../../api/types.gen.ts";
import { isAt, isLun, isNamed, type ScsiDisk, type ScsiPort, type ScsiTree } from "../../host/ports/scsi.ts";
import type { TearDownData } from "../api/teardown-data.ts";

/** One LUN of Fibre Channel, and which disk it was found to be: all that its release needs. */
export interface FCLun {
  readonly source: Pick<FCVolumeSource, "targetWWNs" | "lun" | "wwids">;
  /** ScsiDisk.lasting, once it was found. */
  readonly lasting?: string;
}

type FCPort = Extract<ScsiPort, { kind: "fc" }>;

/** Neither a WWN nor a wwid has one. */
const separator = "\n";

/** PURE. The record's data for the removal of a Fibre Channel LUN's disks: texts only. */
export function tearDownDataOf({ source: { targetWWNs = [], lun, wwids = [] }, lasting }: FCLun): TearDownData {
  return {
    targetWWNs: targetWWNs.join(separator),
    ...(lun !== undefined && { lun: `${lun}` }),
    wwids: wwids.join(separator),
    ...(lasting !== undefined && { lasting }),
  };
}

/** PURE. @throws Error if it was written by another plugin, or is damaged */
export function lunOf({ targetWWNs, lun, wwids, lasting }: TearDownData): FCLun {
  if (targetWWNs === undefined || wwids === undefined) {
    throw new Error("what a Fibre Channel volume has to undo is damaged: it names no targetWWNs or wwids");
  }
  const list = (text: string) => text.split(separator).filter((part) => part !== "");
  const source = { targetWWNs: list(targetWWNs), wwids: list(wwids), ...(lun !== undefined && { lun: Number(lun) }) };
  return { source, ...(lasting !== undefined && { lasting }) };
}

/** PURE. Connections of the node's adapters to the targets that are named. */
export function portsOf({ targetWWNs = [] }: FCLun["source"], { ports }: ScsiTree): FCPort[] {
  return fibreChannel(ports).filter(({ wwn }) => targetWWNs.includes(wwn));
}

/** PURE. The Fibre Channel ports among the SCSI ports. */
export function fibreChannel(ports: readonly ScsiPort[]): FCPort[] {
  return ports.filter((port) => port.kind === "fc");
}

/**
 * PURE. The paths to the LUN: its disks at the targets that are named, or those of its name; once one is known, all
 * that are the same disk, whichever way they come. But for iSCSI: who has a target there has its disks call themselves
 * what they like, and another volume of this node may have logged in to it.
 */
export function pathsOf({ source, lasting }: FCLun, tree: ScsiTree): ScsiDisk[] {
  const { lun = 0, wwids = [] } = source;
  const sessions = tree.ports.filter(({ kind }) => kind === "iscsi");
  const disks = tree.disks.filter(({ address }) => !sessions.some((session) => isAt(session, address)));
  if (lasting !== undefined) return disks.filter((disk) => disk.lasting === lasting);
  if (wwids.length > 0) return disks.filter((disk) => wwids.some((wwid) => isNamed(disk, wwid)));
  const ports = portsOf(source, tree);
  return disks.filter(({ address }) => isLun(address.lun, lun) && ports.some((port) => isAt(port, address)));
}

/** PURE. For people. */
export function lunText({ targetWWNs = [], lun, wwids = [] }: FCLun["source"]): string {
  return wwids.length > 0 ? wwids.join(", ") : `LUN ${lun} of ${targetWWNs.join(", ")}`;
}
