import { VolumeError } from "../../../errors.ts";
import { cephErrno, nothingOfNode } from "../../ports/ceph.ts";
import type { RemoteMount } from "../../ports/servers.ts";

/** PURE. What is written to map it: the text, with the key as the last of its options. */
export function addedText(text: string, key: string): string {
  return text.replace(/^\S+ \S+/, `$&,secret=${key}`);
}

/**
 * PURE. Whom a child waits for that maps an image, or gives it back: its cluster.
 * @param monitors as the kernel is told them
 */
export function clusterOf(monitors: string, image: string, point: string): RemoteMount {
  return { fsType: "rbd", source: `${monitors}:/${image}`, point };
}

/** PURE. The monitors in what the kernel is told. */
export function monitorsIn(text: string): string {
  return text.split(" ", 1)[0] ?? "";
}

/** Of monitors that are spoken to by the second version of Ceph's protocol alone. */
const byNewer = /\bms_mode=/;

/**
 * PURE. What an errno of the kernel means. (Linux: drivers/block/rbd.c, do_rbd_add)
 * @param text what was asked of the kernel, if it was
 */
export function refusal(image: string, code: string, text = ""): VolumeError {
  const on = { kind: "Server", name: image };
  const refusesMode = code === "EINVAL" && byNewer.test(text);
  const newer = refusesMode
    ? "; or, as the monitors all have port :3300, the kernel is older than Linux 5.11, the first that speaks to it: name monitors at :6789"
    : "";
  switch (code) {
    case "EACCES":
    case "EPERM":
      return new VolumeError(
        "CredentialsRefused",
        "final",
        `${image}: the cluster does not let the user in with the key of the Secret, or to this image (${code}): correct key and user, or the user's caps`,
        { on },
      );
    case "ENOENT":
      return new VolumeError(
        "ShareNotFound",
        "final",
        `${image}: the cluster has no such pool, or no such image in it: correct pool and image`,
        { on },
      );
    case "EINVAL":
    case "ENXIO":
      return new VolumeError(
        "ImageUnsupported",
        "final",
        `${image}: it lacks the feature exclusive-lock, by which the cluster keeps other writers out, or has one that the node's kernel does not know (${code}): rbd info ${image}; rbd feature enable, or disable${newer}`,
        { on },
      );
    case "EROFS":
    case "EBUSY":
      return new VolumeError(
        "VolumeHeldElsewhere",
        "transient",
        `${image}: another client has it for writing, and does not release it: rbd status ${image} shows which`,
        { on },
      );
    case "ESHUTDOWN": // which is Ceph's EBLOCKLISTED
      return new VolumeError(
        "ServerUnreachable",
        "transient",
        `${image}: the cluster has this node fenced: its address is on the blocklist (${code}): once no earlier client writes there any more, ceph osd blocklist ls shows the entry, and ceph osd blocklist rm ADDRESS removes it`,
        { on },
      );
    default:
      return new VolumeError(
        "ServerUnreachable",
        "transient",
        `mapping ${image}: the cluster cannot be reached, or does not answer (${code})`,
        { on },
      );
  }
}

/** PURE. What rbd-nbd(8) is told to take a device away. */
export function unmapArgs(device: string): string[] {
  return ["unmap", ...nothingOfNode, "--log-file=", device];
}

/** PURE. Name of the last errno in what a program of Ceph says: `(13) Permission denied`. */
export function codeOf(words: string): string | undefined {
  const number = cephErrno(words);
  return number === undefined ? undefined : nameOf(number);
}

/** PURE. The same of what rbd-nbd(8) logs, of monc and rbd at level 10. (Ceph: MonClient.cc, librbd/ImageState.cc) */
export function codeOfLog(log: string): string | undefined {
  const number = [...log.matchAll(/ (?:_finish_auth |handle_open: r=)-(\d{1,3})$/gm)].at(-1)?.[1];
  if (number !== undefined) return nameOf(Number(number));
  // It was let in, and there was no pool in which to look for the image.
  return /authenticate success/.test(log) && !log.includes("librbd") ? "ENOENT" : undefined;
}

/** Those that mean something of their own (refusal), as every architecture has them. */
const names: { readonly [errno: number]: string } = {
  1: "EPERM",
  2: "ENOENT",
  6: "ENXIO",
  13: "EACCES",
  16: "EBUSY",
  22: "EINVAL",
  30: "EROFS",
  108: "ESHUTDOWN",
};

function nameOf(errno: number): string {
  return names[errno] ?? `errno ${errno}`;
}
