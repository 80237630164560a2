import { hasDots } from "../../../src/api/values/path.ts";
import { VolumeError } from "../../../src/errors.ts";
import { joinPath, type MountIdentity, relativePath } from "../../../src/host/mount-table/mount-table.ts";
import type { FileKind } from "../../../src/host/ports/host-ports.ts";
import type { TargetPath } from "../../../src/host/ports/types.ts";
import type { Dentry } from "../kernel/dentry.ts";
import { codeOf } from "../kernel/errno.ts";
import { makeAt } from "../kernel/files.ts";
import { pathOf, pointOf, rootOf, topOf, walk } from "../kernel/lookup.ts";
import type { Path } from "../kernel/mount.ts";
import type { HostDeps } from "./host-deps.ts";

/**
 * The target, mounts on it included; undefined if it is not there.
 * @throws VolumeError SymlinkInPath, TargetNotDirectory
 */
export function openTarget(deps: HostDeps, target: TargetPath): Path | undefined {
  const at = walkToTarget(deps, target, "find");
  const dentry = at.parent?.dentry.children.get(at.name);
  if (at.parent === undefined || dentry === undefined) return undefined;
  if (dentry.kind === "symlink") throw linkInPath(target);
  return topOf({ mount: at.parent.mount, dentry });
}

/** The directory that a target is in: found, or made with everything above it. */
export function walkToTarget(deps: HostDeps, target: TargetPath, how: "make"): { parent: Path; name: string };
export function walkToTarget(deps: HostDeps, target: TargetPath, how: "find"): { parent?: Path; name: string };
export function walkToTarget(
  deps: HostDeps,
  target: TargetPath,
  how: "make" | "find",
): { parent?: Path; name: string } {
  const cut = target.path.lastIndexOf("/");
  const name = target.path.slice(cut + 1);
  if (hasDots(target.path)) throw new VolumeError("DotDotInPath", "final", `${target.path} has "." or ".."`);
  try {
    const prefix = walk(rootOf(deps.namespace), target.prefix, "refuse");
    if (prefix === undefined) return { name };
    let at = prefix;
    const inside = relativePath(target.prefix, target.path.slice(0, cut));
    for (const segment of inside.split("/").filter((part) => part !== "")) {
      if (how === "make") makeAt(deps.machine.kernel, at, segment, "directory", 0o755);
      const next = walk(at, segment, "refuse");
      if (next === undefined) return { name };
      if (next.mount !== prefix.mount) throw mountInPath(target);
      at = next;
    }
    if (at.dentry.kind !== "directory") throw wrongType(target);
    return { parent: at, name };
  } catch (error) {
    if (codeOf(error) === "ELOOP") throw linkInPath(target);
    if (codeOf(error) === "ENOTDIR") throw wrongType(target);
    throw error;
  }
}

/** What a bind of a place shows, by the mount that it is in. */
export function identify(path: Path): MountIdentity {
  const canonicalPath = pathOf(path);
  const point = pointOf(path.mount);
  if (canonicalPath === undefined || point === undefined) {
    throw new VolumeError("SetUpFailed", "transient", "it is in no mount of ours");
  }
  const root = joinPath(path.mount.root.path, relativePath(point, canonicalPath));
  const { device, source } = path.mount.superblock;
  return { device, root, ...(device.startsWith("0:") && { source }) };
}

export function kindOf(dentry: Dentry): FileKind {
  return dentry.kind === "symlink" ? "other" : dentry.kind;
}

function linkInPath(target: TargetPath): VolumeError {
  const message = `${target.path} leads through a symbolic link: name the real path`;
  return new VolumeError("SymlinkInPath", "final", message);
}

function wrongType(target: TargetPath): VolumeError {
  const message = `something on the way to ${target.path} is not a directory: move it away`;
  return new VolumeError("TargetNotDirectory", "final", message);
}

function mountInPath(target: TargetPath): VolumeError {
  const message = `between ${target.prefix} and ${target.path} something is mounted: unmount that, or make it a prefix`;
  return new VolumeError("ForeignMountInPath", "final", message);
}
