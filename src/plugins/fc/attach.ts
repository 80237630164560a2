import { isAbandoned, VolumeError } from "../../errors.ts";
import { isAt, isLun, type ScsiDisk, type ScsiTree, scanFor } from "../../host/ports/scsi.ts";
import { sourceDiffers } from "../api/source-differs.ts";
import type { StageContext } from "../api/volume-plugin.ts";
import { type FCLun, fibreChannel, lunText, pathsOf, portsOf } from "./lun.ts";

/** Drivers of hosts without Fibre Channel or anything like it: a scan there takes long, and finds nothing. */
const notScanned = /^(ahci|ata_|pata_|sata_|ata|usb|uas|iscsi_tcp|iser)/;

/**
 * Finds the LUN on the node, and looks for it where it may be if it is not there: at the ports of the targets that are
 * named, for that LUN alone. A LUN that is only named by itself is looked for at all ports; on a node without any, as a
 * virtual machine that gets LUNs from its hypervisor, by all adapters but those of other kinds of disks. (kubelet:
 * searchDisk, which has every adapter of the node scan everything)
 * @returns all paths to it, those that are named first, else in the order of the node's adapters; at least one
 * @throws VolumeError DiskNotFound, DiskAmbiguous
 */
export async function attach(lun: FCLun, context: StageContext): Promise<readonly ScsiDisk[]> {
  const { scsi, hostRoot } = context;
  const before = await scsi.look(hostRoot);
  const errors = await scanAll(toScan(lun, before), context);
  const tree = await scsi.look(hostRoot);
  const paths = pathsOf({ source: lun.source }, tree);
  refuseDifferent(lun, paths);
  const [error] = errors;
  if (paths.length === 0 && error !== undefined) throw error;
  for (const { message } of errors) context.progress(`a path to ${lunText(lun.source)} may be missing: ${message}`);
  const [{ lasting } = {}] = paths;
  if (lasting !== undefined) return [...new Set([...paths, ...pathsOf({ source: lun.source, lasting }, tree)])];
  if (paths.length > 0) return paths;
  const message = `${lunText(lun.source)} is not on this node: ${whyNot(lun, tree)}`;
  throw new VolumeError("DiskNotFound", "transient", message, { on: { kind: "Device", name: lunText(lun.source) } });
}

/** One port that cannot be scanned is no reason not to use another. @returns why some could not */
async function scanAll(places: ReturnType<typeof toScan>, { scsi }: StageContext): Promise<VolumeError[]> {
  const errors: VolumeError[] = [];
  for (const where of places) {
    try {
      await scsi.scan(where);
    } catch (error) {
      // A child that was abandoned may still scan: one of a volume at a time.
      if (!(error instanceof VolumeError) || isAbandoned(error)) throw error;
      errors.push(error);
    }
  }
  return errors;
}

/** PURE. Where the LUN is looked for: nowhere if it is there already. */
export function toScan(lun: FCLun, tree: ScsiTree): Parameters<StageContext["scsi"]["scan"]>[0][] {
  const { source } = lun;
  const paths = pathsOf({ source }, tree);
  const online = fibreChannel(tree.ports).filter(({ state }) => state === "Online");
  if ((source.targetWWNs ?? []).length > 0) {
    const { lun: number = 0 } = source;
    const named = portsOf(source, { ...tree, ports: online });
    return named
      .filter((port) => !paths.some(({ address }) => isAt(port, address)))
      .map((port) => scanFor(port, number));
  }
  if (paths.length > 0) return [];
  if (online.length > 0) return online.map(({ host, channel, target }) => ({ host, channel, target }));
  return tree.hosts.filter(({ driver }) => !notScanned.test(driver)).map(({ host }) => ({ host }));
}

function whyNot({ source }: FCLun, tree: ScsiTree): string {
  const known = fibreChannel(tree.ports).map(({ wwn, state }) => (state === "Online" ? wwn : `${wwn} (${state})`));
  const has = known.length === 0 ? "has no connection to any target" : `is connected to ${known.join(", ")}`;
  const named = portsOf(source, tree);
  if ((source.targetWWNs ?? []).length > 0 && named.length === 0) {
    return `it ${has}. Correct targetWWNs, or let its adapters and these ports into one zone`;
  }
  const shown = tree.disks.filter(({ address }) => named.some((port) => isAt(port, address)));
  const luns = [...new Set(shown.map(({ address }) => address.lun))].filter((lun) => !isLun(lun, source.lun ?? 0));
  const others = luns.length > 0 ? ` (LUNs there are ${luns.join(", ")})` : "";
  return `it ${has}${others}. Map the LUN to this node on the array; when it appears, it is used at once`;
}

/** Targets that lead to different disks would be one volume by turns. */
function refuseDifferent({ source, lasting }: FCLun, paths: readonly ScsiDisk[]): void {
  const found = new Set(paths.map((disk) => disk.wwid ?? disk.name));
  const shown = paths.map(({ name, wwid }) => `${name}: ${wwid ?? "no wwid"}`).join(", ");
  if (found.size > 1) {
    const message = `${lunText(source)} leads to several disks (${shown}): name only what is one disk`;
    throw new VolumeError("DiskAmbiguous", "final", message);
  }
  const [first] = paths;
  if (first === undefined || lasting === undefined || !isName(lasting) || first.lasting === lasting) return;
  const what = `${lunText(source)} is another disk (${shown}) than the volume was set up with, ${lasting}: it is not used`;
  throw sourceDiffers(what, `Map ${lasting} to the node again`, { kind: "Device", name: first.name });
}

/** A disk without a wwid is known in this boot alone: in another it is looked for as if for the first time. */
function isName(lasting: string): boolean {
  return !lasting.startsWith("disk ");
}
