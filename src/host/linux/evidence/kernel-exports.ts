import { lstatSync, readdirSync, readFileSync, readlinkSync, statSync } from "node:fs";
import { basename, resolve } from "node:path";
import { isLocal } from "../../mount-table/may-block.ts";
import type { MountEntry } from "../../mount-table/mountinfo.ts";
import { attribute, deviceNumberOf } from "../syscall/block-device.ts";
import { FSCONFIG, FSMOUNT_CLOEXEC, FSOPEN_CLOEXEC } from "../syscall/constants.ts";
import { Descriptor } from "../syscall/descriptor.ts";
import { ifThere } from "../syscall/errno.ts";
import { loadLibc } from "../syscall/libc.ts";
import { controllersOf } from "./generic-nodes.ts";
import { commandOf } from "./mount-namespaces.ts";
import { type OtherRoot, otherRoots } from "./other-roots.ts";

/** Where configfs is on a node. */
const usual = "/sys/kernel/config";

/**
 * Directories of configfs, each of something that the kernel serves to other machines, with the attribute that names
 * its file. These servers open a block device without a claim (nvmet_bdev_ns_enable, fd_configure_device and
 * fsg_lun_open of Linux), or an NVMe controller with all its disks (nvmet_passthru_ctrl_enable). LIO's iblock claims
 * it.
 */
const servers = [
  { places: "nvmet/subsystems/*/namespaces/*", file: "device_path", kind: "block" },
  { places: "nvmet/subsystems/*/passthru", file: "device_path", kind: "controller" },
  { places: "target/core/fileio_*/*", file: "info", kind: "block" },
  { places: "usb_gadget/*/functions/mass_storage.*/lun.*", file: "file", kind: "block" },
] as const;

/** What RNBD serves (rnbd_srv_create_dev_sysfs of Linux): beneath sysfs. It opens a block device without a claim. */
const rnbd = "class/rnbd-server/ctl/devices/*";

/** What a path leads to; `number` is `major:minor` of a device. */
type Looked =
  | { readonly kind: "block" | "controller"; readonly number: string }
  | { readonly kind: "file"; readonly number?: undefined };

/** Something that is served now. */
interface Export {
  /** Its directory, as people of the node see it. */
  readonly place: string;
  /** The same beneath its configfs, wherever that is mounted; its place, if it is in none. */
  readonly key: string;
  readonly kind: "block" | "controller";
  /** What somebody has named, perhaps in a container; empty of RNBD. */
  readonly path: string;
  /** What its path may lead to on the node; empty if that cannot be told. */
  readonly leadsTo: readonly Looked[];
}

/** Where exports are looked for. */
export interface ExportSources {
  /** That this process sees. */
  readonly mounts: readonly Pick<MountEntry, "fsType" | "point">[];
  /** The node's root as this process sees it, if that is not its own. */
  readonly root?: string;
  /** Configfs, whoever has mounted it (freshConfigfs). */
  readonly fresh?: () => Descriptor | undefined;
  /** Where else the path may lead that somebody has named: a container may have other devices by the same names. */
  readonly others?: () => Iterable<OtherRoot>;
  /** /sys, or a made tree */
  readonly sys?: string;
  /** What is at a path, whose links are resolved beneath a root directory; undefined if that cannot be told. */
  readonly look?: (path: string, root: string) => Looked | undefined;
}

/**
 * All places of the node, whatever this process has mounted.
 * @param path a device's node, in the root directory of the node
 */
export function ofNode(mounts: ExportSources["mounts"], path: string): ExportSources {
  return { mounts, root: rootOf(path, mounts), fresh: freshConfigfs, others: otherRoots };
}

/** The root directory that a path is in, as this process sees it: the node's has a sysfs, and so has a container's. */
function rootOf(path: string, mounts: ExportSources["mounts"]): string {
  const systems = mounts.filter(({ fsType, point }) => fsType === "sysfs" && point.endsWith("/sys"));
  const roots = systems.map(({ point }) => point.slice(0, -"/sys".length));
  const [nearest = ""] = roots.filter((root) => path.startsWith(`${root}/`)).sort((a, b) => b.length - a.length);
  return nearest;
}

/** What another mount namespace has by the path of an export. */
export interface ExportElsewhere {
  /** The export's directory in the node's configfs. */
  readonly place: string;
  /** A process of that namespace. */
  readonly user: { readonly pid: number; readonly command: string };
}

/**
 * What the kernel serves of block devices to other machines: an NVMe target, a SCSI target (LIO), USB mass storage,
 * RNBD. A path is what it leads to on the node.
 * @returns its directory in the node's configfs or sysfs, of the first one
 */
export function exportOf(deviceNumbers: readonly string[], sources: ExportSources): string | undefined {
  const isOurs = oneOf(deviceNumbers, sources);
  return exportsNow(sources).find(({ kind, leadsTo }) => leadsTo.some((at) => at.kind === kind && isOurs(at)))?.place;
}

/**
 * What the kernel may serve of these devices: in another mount namespace a path leads to one. That is no proof, as a
 * pod may make a node of any number in its own root (CAP_MKNOD).
 * @returns the first one
 */
export function exportElsewhere(
  deviceNumbers: readonly string[],
  sources: ExportSources,
  exports = exportsNow(sources),
): ExportElsewhere | undefined {
  const isOurs = oneOf(deviceNumbers, sources);
  const found = exports.filter(({ path }) => path.startsWith("/"));
  const roots = found.length > 0 ? [...(sources.others?.() ?? [])] : [];
  for (const { place, kind, path } of found) {
    const its = roots.find(({ root, mounts }) => {
      const at = lookBeneath(`${root}${path}`, root, mounts);
      return at?.kind === kind && isOurs(at);
    });
    if (its !== undefined) return { place, user: { pid: its.pid, command: commandOf(its.pid) } };
  }
  return undefined;
}

/**
 * What the kernel serves of which nobody can tell whether it is one of these devices: the path that was written there
 * is that of a container, perhaps, or is on a file system that may hang. What other mount namespaces have there tells
 * nothing of what was served. A controller can only be that of an NVMe disk.
 * @returns its directory in the node's configfs or sysfs, of the first one
 */
export function unknownExport(
  deviceNumbers: readonly string[],
  sources: ExportSources,
  exports = exportsNow(sources),
): string | undefined {
  const { sys = "/sys" } = sources;
  const isNVMe = () => deviceNumbers.some((number) => controllersOf(sys, number).length > 0);
  return exports.find(({ leadsTo, kind }) => leadsTo.length === 0 && (kind === "block" || isNVMe()))?.place;
}

/** Whether something is one of these devices, or the controller of one. */
function oneOf(deviceNumbers: readonly string[], { sys = "/sys" }: ExportSources): (at: Looked) => boolean {
  const controllers = deviceNumbers.flatMap((number) => controllersOf(sys, number));
  return ({ kind, number }) =>
    number !== undefined && (kind === "block" ? deviceNumbers : controllers).includes(number);
}

/** All that is served now: it takes a walk through each configfs. */
export function exportsNow(sources: ExportSources): readonly Export[] {
  const { mounts, sys = "/sys", fresh } = sources;
  using own = fresh?.();
  const seen = mounts
    .filter(({ fsType }) => fsType === "configfs")
    .flatMap(({ point }) => configuredAt(point, sources));
  const configured = [...seen, ...(own === undefined ? [] : configuredAt(own.path, sources, usual))];
  return [...eachOnce(configured), ...matching(sys, rnbd.split("/")).map(servedByRNBD)];
}

/** One export is shown by each mount of configfs, whose root directory may be another one. */
function eachOnce(exports: readonly Export[]): readonly Export[] {
  const byKey = Map.groupBy(exports, ({ key }) => key).values();
  return [...byKey].flatMap(([first, ...rest]) =>
    first === undefined ? [] : { ...first, leadsTo: [first, ...rest].flatMap(({ leadsTo }) => leadsTo) },
  );
}

/**
 * @param point where configfs is
 * @param name where people of the node see it, if not there
 */
function configuredAt(
  point: string,
  { mounts, root: nodes = "", look = lookIn(mounts) }: ExportSources,
  name?: string,
): readonly Export[] {
  const root = point.endsWith(usual) ? point.slice(0, -usual.length) : nodes;
  const shown = name ?? (point.startsWith(`${root}/`) ? point.slice(root.length) : point);
  return servers.flatMap(({ places, file, kind }) =>
    matching(point, places.split("/")).flatMap((place) => {
      const path = fileIn(attribute(`${place}/${file}`));
      if (isOff(place) || path === "") return [];
      const leadsTo = whereIs(root, path)
        .flatMap(([at, beneath]) => look(at, beneath) ?? [])
        .filter((at) => fits(at, kind));
      const key = place.slice(point.length);
      return [{ place: `${shown}${key}`, key, path, kind, leadsTo }];
    }),
  );
}

/** An NVMe target takes no file for a controller, and no controller for a disk. */
function fits(looked: Looked, kind: "block" | "controller"): boolean {
  return looked.kind === kind || (looked.kind === "file" && kind === "block");
}

/** Linux links to the whole disk, and names the directory after the partition that is served, or after its path. */
function servedByRNBD(place: string): Export {
  const disk = `${place}/block_dev`;
  const number = attribute(`${disk}/${basename(place)}/dev`) || attribute(`${disk}/dev`);
  return { place, key: place, kind: "block", path: "", leadsTo: number === "" ? [] : [{ kind: "block", number }] };
}

/** What has no such switch is on as long as it names a file. */
function isOff(place: string): boolean {
  return attribute(`${place}/enable`) === "0";
}

/** `TCM FILE ID: 0        File: /dev/sdb  Size: 1048576  Mode: O_DSYNC Async: 0` of LIO, else the text itself. */
function fileIn(text: string): string {
  return /File: (.*?) {2}Size: /.exec(text)?.[1] ?? text;
}

/**
 * Where that may be which somebody, perhaps in a container, has named by this path; each with the root directory of its
 * links.
 * @param root the node's, as this process sees it
 */
function whereIs(root: string, path: string): readonly (readonly [path: string, root: string])[] {
  if (!path.startsWith("/")) return [];
  const at = path.lastIndexOf("/dev/");
  const whole = [`${root}${path}`, root] as const;
  if (at < 0) return [whole];
  const inDev = path.slice(at);
  return [...(at > 0 ? [whole] : []), [`${root}${inDev}`, root], [inDev, ""]];
}

/** Most links of one path (path_resolution(7)). */
const mostLinks = 40;

/** A look that goes through no mount of a file system that may hang; only /dev is taken as one that does not. */
function lookIn(mounts: ExportSources["mounts"]): NonNullable<ExportSources["look"]> {
  return (path, root) => (resolve(path).startsWith(`${root}/dev/`) ? looked(path) : lookBeneath(path, root, mounts));
}

function lookBeneath(path: string, root: string, mounts: ExportSources["mounts"]): Looked | undefined {
  const settled = withoutLinks(path, root, mounts);
  return settled === undefined ? undefined : looked(settled);
}

function looked(path: string): Looked | undefined {
  const stat = ifThere(() => statSync(path));
  if (stat === undefined) return undefined;
  if (stat.isFile()) return { kind: "file" };
  if (stat.isBlockDevice()) return { kind: "block", number: deviceNumberOf(stat) };
  return stat.isCharacterDevice() ? { kind: "controller", number: deviceNumberOf(stat) } : undefined;
}

/** What a path beneath a root directory stands for; undefined if it is not there, or goes through what may hang. */
function withoutLinks(path: string, root: string, mounts: ExportSources["mounts"]): string | undefined {
  let names = namesOf(path.slice(root.length));
  for (let done = 0, links = 0; done < names.length; done++) {
    const here = `${root}/${names.slice(0, done + 1).join("/")}`;
    const stat = mayHang(here, mounts) ? undefined : ifThere(() => lstatSync(here));
    if (stat === undefined || links > mostLinks) return undefined;
    if (!stat.isSymbolicLink()) continue;
    const target = ifThere(() => readlinkSync(here));
    if (target === undefined) return undefined;
    names = namesOf(...names.slice(0, done), target, ...names.slice(done + 1));
    done = -1;
    links += 1;
  }
  return `${root}/${names.join("/")}`;
}

/** Of a path beneath a root directory, which nothing leads out of. */
function namesOf(...parts: readonly string[]): readonly string[] {
  return resolve("/", ...parts)
    .split("/")
    .filter((name) => name !== "");
}

/** What is mounted on / is not asked: the agent's own program comes from there. */
function mayHang(path: string, mounts: ExportSources["mounts"]): boolean {
  return mounts.some(({ fsType, point }) => !isLocal(fsType) && (path === point || path.startsWith(`${point}/`)));
}

/** Directories beneath one, by the names of their parts, in which a star stands for any text. */
function matching(directory: string, [first, ...rest]: readonly string[]): readonly string[] {
  if (first === undefined) return [directory];
  const [begin = "", end = ""] = first.split("*");
  const names = (ifThere(() => readdirSync(directory)) ?? []).filter((name) =>
    first.includes("*") ? name.startsWith(begin) && name.endsWith(end) : name === first,
  );
  return names.flatMap((name) => matching(`${directory}/${name}`, rest));
}

/**
 * All of configfs, as a mount of its own that goes with the descriptor. The kernel has one tree, whoever has mounted it
 * where, and what was made in it stays when nobody has it mounted any more (configfs_get_tree and simple_pin_fs of
 * Linux).
 * @returns undefined if the kernel has none, and so serves nothing by it, or this process may not mount
 */
function freshConfigfs(): Descriptor | undefined {
  const known = ifThere(() => readFileSync("/proc/filesystems", "utf8")) ?? "";
  if (!/^nodev\s+configfs$/m.test(known)) return undefined; // to ask for it would load it
  const libc = loadLibc();
  return ifThere(() => {
    using context = new Descriptor(libc.fsopen("configfs", FSOPEN_CLOEXEC));
    libc.fsconfig(context.fd, FSCONFIG.CMD_CREATE, null, null);
    return new Descriptor(libc.fsmount(context.fd, FSMOUNT_CLOEXEC, 0));
  });
}
