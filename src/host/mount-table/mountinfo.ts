import { OptionLists } from "./option-lists.ts";

/** One line of /proc/PID/mountinfo (proc_pid_mountinfo(5)), decoded. */
export interface MountEntry {
  /** Mount id of the kernel, unique among the mounts that exist, used again after an unmount. */
  readonly id: number;
  /**
   * Id that no other mount ever has until the next boot (statmount(2)), and that grows with the age of mounts. Absent
   * where only mountinfo is there to be read. A mount has another one in each mount namespace.
   */
  readonly uniqueID?: number;
  /** Mount id that it is mounted on; its own id at the root of the mount tree. */
  readonly parent: number;
  /** `major:minor` of the superblock. */
  readonly device: string;
  /** Path within the file system that is the root of this mount; ends in `//deleted` if that was removed. */
  readonly root: string;
  /** Mount point, seen from the process's root. */
  readonly point: string;
  /** Options of this mount alone, as the kernel writes them. */
  readonly options: readonly string[];
  /** Peer group that it is a member of. */
  readonly shared?: number;
  /** Peer group that it receives propagation from. */
  readonly master?: number;
  readonly fsType: string;
  readonly source: string;
  /** Options of the superblock, as the kernel writes them. */
  readonly superOptions: readonly string[];
}

/** What tells a mount from others: by the id that is never used again where both sides know it. */
export interface MountRef {
  readonly id: number | undefined;
  readonly uniqueID?: number | undefined;
}

/** Whether two ids are those of one mount. */
export function sameMount(a: MountRef, b: MountRef): boolean {
  if (a.uniqueID !== undefined && b.uniqueID !== undefined) return a.uniqueID === b.uniqueID;
  return a.id !== undefined && a.id === b.id;
}

/** Whether nothing of a mount has changed. */
export function sameEntry(a: MountEntry, b: MountEntry): boolean {
  if (a === b) return true;
  return (
    a.id === b.id &&
    a.uniqueID === b.uniqueID &&
    a.parent === b.parent &&
    a.point === b.point &&
    a.root === b.root &&
    a.device === b.device &&
    a.shared === b.shared &&
    a.master === b.master &&
    a.fsType === b.fsType &&
    a.source === b.source &&
    sameList(a.options, b.options) &&
    sameList(a.superOptions, b.superOptions)
  );
}

/** What of a mount is not as it is shown, for people. */
export function differenceOf(shown: MountEntry, kept: MountEntry | undefined): string {
  if (kept === undefined) return `${shown.point} is missing`;
  const keys = Object.keys({ ...shown, ...kept }) as (keyof MountEntry)[];
  const differing = keys.filter((key) => key !== "uniqueID" && `${kept[key]}` !== `${shown[key]}`);
  return `${shown.point} has ${differing.map((key) => `${key} ${kept[key]}, not ${shown[key]}`).join("; ")}`;
}

/** Whether two lists of options are equal. */
export function sameList(a: readonly string[], b: readonly string[]): boolean {
  return a === b || (a.length === b.length && a.every((item, at) => item === b[at]));
}

/**
 * Parses a whole mountinfo file.
 * @param lists kept from one time to the next, makes equal options the same list
 * @throws Error naming the line if one cannot be understood: half a table is worse than none
 */
export function parseMountinfo(text: string, lists = new OptionLists()): MountEntry[] {
  const entries: MountEntry[] = [];
  for (let start = 0; start < text.length; ) {
    const newline = text.indexOf("\n", start);
    const end = newline === -1 ? text.length : newline;
    if (end > start) entries.push(parseLine(text.slice(start, end), lists));
    start = end + 1;
  }
  return entries;
}

/** How each line begins: two ids, a device, a root, and a mount point from the root of the process on. */
const beginning = /^\d+ \d+ \d+:\d+ [^ ]+ \//;

// 36 35 98:0 /mnt1 /mnt2 rw,noatime shared:1 master:2 - ext3 /dev/root rw,errors=continue
function parseLine(line: string, lists: OptionLists): MountEntry {
  const fields = line.split(" ");
  const dash = fields.indexOf("-", 6);
  const [id, parent, device, root, point, options] = fields;
  const [fsType, source, superOptions] = fields.slice(dash + 1);
  if (dash === -1 || options === undefined || superOptions === undefined || !beginning.test(line)) {
    throw new Error(`mountinfo line not understood: ${JSON.stringify(line)}`);
  }
  const entry: { -readonly [K in keyof MountEntry]: MountEntry[K] } = {
    id: Number(id),
    parent: Number(parent),
    device: device ?? "",
    root: unescapeOctal(root ?? ""),
    point: unescapeOctal(point ?? ""),
    options: lists.of(options),
    fsType: unescapeOctal(fsType ?? ""),
    source: unescapeOctal(source ?? ""),
    superOptions: lists.of(superOptions),
  };
  for (const field of fields.slice(6, dash)) {
    if (field.startsWith("shared:")) entry.shared = Number(field.slice(7));
    else if (field.startsWith("master:")) entry.master = Number(field.slice(7));
  }
  return entry;
}

/** The kernel writes space, tab, newline, backslash and # as octal escapes. */
export function unescapeOctal(field: string): string {
  return field.includes("\\")
    ? field.replace(/\\([0-7]{3})/g, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8)))
    : field;
}
