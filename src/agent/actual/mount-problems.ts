import type { MountEntry } from "../../host/mount-table/mountinfo.ts";
import type { Problem } from "../model/actual-volume.ts";

// PURE. Problems of mounts that block ours.

/** The problem of every volume while the mount table cannot be read: nothing is set up or torn down then (law L1). */
export const tableUnreadable: Problem = {
  reason: "MountTableUnreadable",
  message: "the kernel's mount table cannot be read: what is mounted is not known",
};

/** The command by which people have a volume released, whatever may be left of it. */
export function releaseCommand(volume: string): string {
  return `kubectl annotate nvi ${volume} nodevolume.dev/release='who, why'`;
}

/** @param asked whether it may be taken over if it is the same */
export function foreignMount(path: string, mount: MountEntry | undefined, asked = false): Problem {
  const what = `${path} has ${nameOf(mount)} mounted that is not ours`;
  const remedy = asked
    ? `, nor the same to the kernel as the spec: unmount it, or make source and mountOptions, and the Secret of a share, match the mount`
    : `: unmount it, or set adopt: IfSame if it is the same volume`;
  return { reason: "ForeignMount", message: what + remedy, on: { kind: "Mount", name: path } };
}

/** PURE. The problem of an observed volume whose target has another volume mounted on it. */
export function differentMount(path: string, mount: MountEntry | undefined): Problem {
  return {
    reason: "ForeignMount",
    message: `${path} has ${nameOf(mount)} mounted, which differs from the spec: mode Manage would leave it there and wait`,
    on: { kind: "Mount", name: path },
  };
}

/** PURE. A mount as people know it: file system type, source and root. */
export function nameOf(mount: MountEntry | undefined): string {
  return mount === undefined ? "something" : `${mount.fsType} (${mount.source}, root ${mount.root})`;
}

/** PURE. The problem of a target that another mount hides: on the target itself, or on a directory above it. */
export function covered(path: string): Problem {
  return {
    reason: "TargetCovered",
    message: `the mount on ${path} is hidden by another mount, over it or on a directory above it: unmount that`,
    on: { kind: "Mount", name: path },
  };
}

/**
 * PURE. The problem of a target with a foreign mount on top of ours. Ours is left alone: an unmount would remove the
 * foreign one.
 */
export function stacked(path: string): Problem {
  return {
    reason: "ForeignMountOnTarget",
    message: `${path} has another mount over ours: unmount that; ours is not touched while it is there`,
    on: { kind: "Mount", name: path },
  };
}

/** PURE. The problem of a target with a foreign mount beneath ours, which would appear if ours were unmounted. */
export function beneath(path: string): Problem {
  return {
    reason: "ForeignMountBeneath",
    message: `${path} has another mount beneath ours, which is not touched while it is there: unmount both, ours is made anew`,
    on: { kind: "Mount", name: path },
  };
}
