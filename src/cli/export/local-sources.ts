import { tidy } from "./fields.ts";
import type { ExportedSource, MountLine, NoSource } from "./mount-line.ts";

/** PURE. A volume of the node itself; undefined for other types. @param line with the options that count */
export function localSource(line: MountLine): ExportedSource | NoSource | undefined {
  const { source, type, options } = line;
  if (line.bind) {
    const notes = options.includes("rbind") ? ["rbind: mounts beneath the directory are not carried along"] : [];
    return { source: { hostPath: { path: source, type: "" } }, notes, options: [], adoptable: true };
  }
  if (type === "tmpfs") return memory(options);
  if (!/^(ext[234]|xfs|btrfs)$/.test(type)) return undefined;
  const path = deviceOf(source);
  if (path === undefined)
    return {
      reason: "its source is no device that a set could name: /dev/…, UUID=, LABEL=, PARTUUID=, PARTLABEL= or ID=",
    };
  return { source: { local: { path } }, notes: notesOf(path), options: [], fsType: type, adoptable: true };
}

/** PURE. What is to be said of a name of a disk. */
function notesOf(path: string): string[] {
  if (/^\/dev\/([sv]d|xvd|nvme)/.test(path))
    return [`${path} may be another disk after a reboot: name it by /dev/disk/by-id`];
  const [, by] = /^\/dev\/disk\/by-(uuid|label|partuuid|partlabel)\//.exec(path) ?? [];
  if (by === undefined) return [];
  return [
    `by-${by} is read from the disk itself: anyone who can write to any disk of the node can imitate it. Name it by /dev/disk/by-id`,
  ];
}

/** An emptyDir is always a tmpfs of our own: what is mounted there now is another. */
function memory(options: readonly string[]): ExportedSource | NoSource {
  const size = options.find((option) => option.startsWith("size="))?.slice(5);
  const sizeLimit = size === undefined ? undefined : quantity(size);
  if (size !== undefined && sizeLimit === undefined)
    return { reason: "its size is no number of bytes with k, m or g: sizeLimit takes bytes, or Ki, Mi, Gi" };
  const notes = options.some((option) => /^mode=0*777$/.test(option))
    ? []
    : ["an emptyDir has mode 0777, not 1777: everybody may remove the files of others"];
  return {
    source: { emptyDir: { medium: "Memory", ...(sizeLimit !== undefined && { sizeLimit }) } },
    notes,
    options: [],
  };
}

/** As the kernel reads it, but for octal and hexadecimal numbers, which nobody means. */
function quantity(size: string): string | undefined {
  const [, number, unit = ""] = /^([1-9]\d*)([kmgt]?)$/i.exec(size) ?? [];
  return number === undefined ? undefined : `${number}${unit === "" ? "" : `${unit.toUpperCase()}i`}`;
}

const links: ReadonlyMap<string, string> = new Map([
  ["UUID", "by-uuid"],
  ["LABEL", "by-label"],
  ["PARTUUID", "by-partuuid"],
  ["PARTLABEL", "by-partlabel"],
  ["ID", "by-id"],
]);

/** libmount takes a value in double or single quotes, too. */
function deviceOf(source: string): string | undefined {
  if (/^\/+dev\//.test(source)) return tidy(source);
  const [, tag = "", , value = ""] = /^([A-Z]+)=(["']?)(.+)\2$/.exec(source) ?? [];
  const folder = links.get(tag);
  if (folder === undefined || value === "") return undefined;
  return `/dev/disk/${folder}/${tag === "ID" ? value : udevName(value)}`;
}

/** How udev names a link after a label: all but letters, digits, #+-.:=@_ and characters beyond ASCII is escaped. */
function udevName(label: string): string {
  return label.replace(
    /[^\w#+.:=@\u0080-\u{10ffff}-]/gu,
    (character) => `\\x${character.charCodeAt(0).toString(16).padStart(2, "0")}`,
  );
}
