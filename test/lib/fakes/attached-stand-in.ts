import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, realpathSync, symlinkSync, writeFileSync } from "node:fs";
import { basename } from "node:path";

const places = "/sys/dev/block";

/** How a disk seems to be attached. */
export interface SeemsAttached {
  /** Its node. */
  readonly path: string;
  /** Where sysfs has such disks: `session1`, `rport-3:0-1`. */
  readonly by: string;
  readonly wwid?: string;
  /** `major:minor` of its node for commands, as /dev/sg0. */
  readonly generic?: string;
  /** Nodes of what it seems to be made of, as by device-mapper. */
  readonly over?: readonly string[];
}

/**
 * A stand-in for sysfs: has disks lie where it has those of iSCSI or Fibre Channel, with a wwid, for who looks in this
 * mount namespace.
 * @param directory for what is made
 */
export function attachedStandIn(directory: string, ...disks: readonly SeemsAttached[]): Disposable {
  const known = readdirSync(places).map((number) => [number, realpathSync(`${places}/${number}`)] as const);
  execFileSync("mount", ["-t", "tmpfs", "stand-in", places]);
  for (const [number, place] of known) {
    const disk = disks.find(({ path }) => basename(path) === basename(place));
    symlinkSync(disk === undefined ? place : made(directory, place, disk), `${places}/${number}`);
  }
  return { [Symbol.dispose]: () => void execFileSync("umount", [places]) };
}

/** All that sysfs has of the disk, and what it has not. */
function made(directory: string, place: string, { by, wwid, generic, over }: SeemsAttached): string {
  const copy = `${directory}/${by}/block/${basename(place)}`;
  mkdirSync(`${copy}/device`, { recursive: true });
  for (const entry of readdirSync(place).filter((name) => over === undefined || name !== "slaves"))
    symlinkSync(`${place}/${entry}`, `${copy}/${entry}`);
  for (const name of (over ?? []).map((path) => basename(path))) {
    mkdirSync(`${copy}/slaves`, { recursive: true });
    symlinkSync(`/sys/block/${name}`, `${copy}/slaves/${name}`);
  }
  if (wwid !== undefined) writeFileSync(`${copy}/device/wwid`, `${wwid}\n`);
  if (generic !== undefined) {
    mkdirSync(`${copy}/device/scsi_generic/sg0`, { recursive: true });
    writeFileSync(`${copy}/device/scsi_generic/sg0/dev`, `${generic}\n`);
  }
  return copy;
}
