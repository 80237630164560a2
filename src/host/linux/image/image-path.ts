import { printable } from "../../../api/values/printable.ts";
import { VolumeError } from "../../../errors.ts";
import { errnoOf } from "../syscall/errno.ts";

const mostSegments = 256;

/** The names of a path from the root of the image. @throws VolumeError ContentRefused */
export function cleaned(path: string): string[] {
  if (Buffer.byteLength(path) > 4096) throw refused(path, "has a path of more than 4096 bytes");
  const segments = path.split("/").filter((name) => name !== "" && name !== ".");
  if (segments.length > mostSegments) throw refused(path, `has a path of more than ${mostSegments} names`);
  for (const name of segments) {
    if (name === "..") throw refused(path, 'has the name ".." in its path');
    if (name.includes("\0")) throw refused(path, "has a NUL in its name");
    if (Buffer.byteLength(name) > 255) throw refused(path, "has a name of more than 255 bytes");
  }
  return segments;
}

/** PURE. The error about an entry of an image that is not written. Retrying does not help: an image does not change. */
export function refused(path: string, why: string): VolumeError {
  const message = `${printable(path).slice(0, 256)} in the image ${why}: no part of the image is shown. Name another image`;
  return new VolumeError("ContentRefused", "final", message);
}

/**
 * What the kernel says of an entry that cannot be: beneath a file, through a link in circles, another name of nothing.
 */
const impossible = [
  "EEXIST",
  "ENOTDIR",
  "ELOOP",
  "EXDEV",
  "EISDIR",
  "ENOENT",
  "EFBIG",
  "EPERM",
  "EINVAL",
  "ENAMETOOLONG",
  "EMLINK",
];

/** PURE. The error for an entry that was not written, by errno: the image's fault, a full disk, or the error itself. */
export function meant(path: string, error: unknown): unknown {
  const code = errnoOf(error) ?? "";
  if (impossible.includes(code)) return refused(path, `cannot be written as the image specifies (${code})`);
  if (code === "ENOSPC" || code === "EDQUOT") {
    return new VolumeError("SetUpFailed", "transient", "the disk of the state directory is full: make room on it");
  }
  return error;
}
