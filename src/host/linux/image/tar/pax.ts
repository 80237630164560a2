import { corruptLayer } from "../corrupt-layer.ts";
import { utf8 } from "./tar-fields.ts";

/** What an extended header says of the entry after it, by key. */
export type Pax = ReadonlyMap<string, string>;

/** What counts here. The rest is left out unread, as extended attributes are: their values need not be text. */
const keys = [
  ...["path", "linkpath", "size", "uid", "gid", "mtime"],
  ...["major", "minor", "name", "realsize", "size", "map"].map((key) => `GNU.sparse.${key}`),
];
/** In the oldest format of sparse files a pair for each piece: together a map (GNU tar, "PAX Format, Version 0.0"). */
const pieces = ["GNU.sparse.offset", "GNU.sparse.numbytes"];

/** PURE. `length key=value\n`, repeated (POSIX, pax). A key without a value says nothing: the header itself counts. */
export function readPax(text: Buffer): Pax {
  const records = new Map<string, string>();
  const map: string[] = [];
  for (let at = 0; at < text.length; ) {
    const space = text.indexOf(0x20, at);
    const digits = space === -1 ? "" : text.toString("latin1", at, space);
    const end = at + (/^[0-9]{1,9}$/.test(digits) ? Number(digits) : 0);
    const equals = text.indexOf(0x3d, space + 1);
    if (end > text.length || equals <= space + 1 || equals >= end || text[end - 1] !== 0x0a) {
      throw corruptLayer("has a header that cannot be read");
    }
    const key = text.toString("latin1", space + 1, equals);
    const value = text.subarray(equals + 1, end - 1);
    if (keys.includes(key)) {
      if (value.length === 0) records.delete(key);
      else records.set(key, utf8(value));
    } else if (pieces.includes(key)) {
      if (key !== pieces[map.length % 2]) throw corruptLayer("has a map of a sparse file that cannot be read");
      map.push(utf8(value));
    }
    at = end;
  }
  if (map.length > 0) records.set("GNU.sparse.map", map.join(","));
  return records;
}
