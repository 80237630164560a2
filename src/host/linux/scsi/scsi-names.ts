/** Association of a designator with the LUN itself, not with its port or target (SPC-4, 7.8.6). */
const ofLun = 0;
/** Designator types, by number: how udev's scsi_id and multipath name them. */
const prefixes: { readonly [type: number]: string } = { 0: "0", 1: "1", 2: "2", 3: "3", 8: "8" };
/** Code set of designators that are binary; the others are text. */
const binary = 1;

/**
 * PURE. The names that a LUN has by page 0x83 of its vital product data (SPC-4, 7.8.6), as udev's scsi_id has them: the
 * type of the designator, and its digits, or its text without spaces. What does not keep to the format ends the list.
 */
export function namesOfPage(page: Uint8Array): string[] {
  const names: string[] = [];
  const end = Math.min(page.length, 4 + (((page[2] ?? 0) << 8) | (page[3] ?? 0)));
  for (let at = 4; at + 4 <= end; ) {
    const [codes = 0, kind = 0, , length = 0] = page.subarray(at, at + 4);
    const value = page.subarray(at + 4, at + 4 + length);
    if (at + 4 + length > end) break;
    at += 4 + length;
    const prefix = prefixes[kind & 0x0f];
    if (((kind >> 4) & 3) !== ofLun || prefix === undefined || value.every((byte) => byte === 0)) continue;
    names.push(prefix + ((codes & 0x0f) === binary ? Buffer.from(value).toString("hex") : textOf(value)));
  }
  return names;
}

/** PURE. The same of the one name that the kernel has chosen: `naa.6001405…` is `36001405…`. */
export function nameOfWWID(wwid: string): string | undefined {
  const [, type = "", value = ""] = /^(naa|eui|t10|scsi)\.(.+)$/s.exec(wwid) ?? [];
  const prefix = { naa: "3", eui: "2", t10: "1", scsi: "8" }[type];
  return prefix === undefined ? undefined : prefix + textOf(Buffer.from(value));
}

/** Runs of spaces are one underscore, at both ends nothing (udev: util_replace_whitespace). */
function textOf(value: Uint8Array): string {
  const text = Buffer.from(value).toString("latin1").replace(/\0.*$/s, "");
  return text.trim().replaceAll(/\s+/g, "_");
}
