import type { MountEntry } from "../host/mountinfo.ts";
import type { Problem } from "./view.ts";

// PURE. What is said of a mount that stands in the way of ours.

export function foreignMount(path: string, mount: MountEntry | undefined): Problem {
  return {
    reason: "ForeignMount",
    message: `${path} has ${nameOf(mount)} mounted that is not ours: unmount it, or set adopt: IfSame if it is the same volume`,
    on: { kind: "Mount", name: path },
  };
}

export function differentMount(path: string, mount: MountEntry | undefined): Problem {
  return {
    reason: "ForeignMount",
    message: `${path} has ${nameOf(mount)} mounted, which is not what the spec says: mode Manage would leave it there and wait`,
    on: { kind: "Mount", name: path },
  };
}

function nameOf(mount: MountEntry | undefined): string {
  return mount === undefined ? "something" : `${mount.fsType} (${mount.source}, root ${mount.root})`;
}

export function covered(path: string): Problem {
  return {
    reason: "TargetCovered",
    message: `what is mounted on ${path} is hidden by a mount on a directory above it, or over it: unmount that`,
    on: { kind: "Mount", name: path },
  };
}

export function stacked(path: string): Problem {
  return {
    reason: "ForeignMountOnTarget",
    message: `${path} has another mount over ours: unmount that; ours is not touched while it is there`,
    on: { kind: "Mount", name: path },
  };
}

export function beneath(path: string): Problem {
  return {
    reason: "ForeignMountBeneath",
    message: `${path} has another mount beneath ours, which is not touched while it is there: unmount both, ours is made anew`,
    on: { kind: "Mount", name: path },
  };
}
