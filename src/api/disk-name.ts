/** How udev, and dm-multipath, begin a name that sysfs has. */
const types: { readonly [inSysfs: string]: string } = { naa: "3", eui: "2" };

/**
 * Of no company: what a target makes up of its own numbers, as tgt does, and cheap adapters have, others have, too.
 * (naa. begins with its kind: 5 is of 16 digits, 6 of 32)
 */
const madeUp = /^naa\.[56]0{6}/;

/** As udev has names of SCSI, and dm-multipath of these. */
const ofUdev = /^([23])([0-9a-f]{16,})$/;

/**
 * PURE. What a disk is called on every node that reaches it, by whatever path, where its name for life is given out
 * once in the world; of a partition with which one it is: `36001405…, start 2048`. Undefined of other names: a serial
 * number may be that of several.
 * @param lastingName as sysfs has it (Disk.lastingName)
 */
export function diskName(lastingName: string): string | undefined {
  const [, partition, whole = lastingName] = /^(?:(part\d+)-)?mpath-(.+)$/.exec(lastingName) ?? [];
  const [name = "", ...pieces] = whole.split(", ");
  const piece = [...pieces, ...(partition === undefined ? [] : [partition])].join(", ");
  const base = baseName(name.toLowerCase(), whole !== lastingName);
  if (base === undefined) return undefined;
  return piece === "" ? base : `${base}, ${piece}`;
}

/** @param ofMultipath it is as udev has it: of SCSI in another way than sysfs, of NVMe in the same */
function baseName(name: string, ofMultipath: boolean): string | undefined {
  const [, kind, id] = (ofMultipath && ofUdev.exec(name)) || [];
  if (kind !== undefined) return baseName(`${kind === types["naa"] ? "naa" : "eui"}.${id}`, false);
  if (madeUp.test(name)) return undefined;
  const [, type = "", value = ""] = /^(naa|eui)\.([0-9a-f]+)$/.exec(name) ?? [];
  if (value !== "") return `${types[type]}${value}`;
  return /^(uuid|nvme)\.\S+$/.test(name) ? name : undefined;
}

/** PURE. The disk of such a name, without which part of it is meant. */
export function wholeDisk(name: string): string {
  return name.split(", ")[0] ?? name;
}

/** PURE. Whether two such names are of one disk, and not of two partitions of it. */
export function overlap(a: string, b: string): boolean {
  if (wholeDisk(a) !== wholeDisk(b)) return false;
  const [x, y] = [a, b].map((name) => name.slice(wholeDisk(name).length));
  // One by where it begins, the other by its number: nothing tells them apart.
  return x === undefined || y === undefined || x === y || x === "" || y === "" || x.slice(0, 6) !== y.slice(0, 6);
}
