import { type Dentry, relativeTo } from "./dentry.ts";
import type { Mount, Path } from "./mount.ts";
import { subtree } from "./mount-relations.ts";
import type { PeerGroups } from "./peer-groups.ts";

/** What a copy of a mount is to its original: a peer, or one that only receives, which may have peers of its own. */
export type Relation = "peer" | "slave" | "sharedSlave";

/** What makes the copies: a MountTree. */
interface Copying {
  readonly groups: PeerGroups;
  copyTree(original: Mount, root?: Dentry, how?: Relation): Mount;
}

/**
 * Copies of a mount, with all that is on it, for every place that `at` propagates to, not attached yet (propagate_mnt
 * in fs/pnode.c). On a shared place everything that is attached becomes shared.
 */
export function propagated(tree: Copying, source: Mount, at: Path): { readonly mount: Mount; readonly at: Path }[] {
  const { mount: parent, dentry } = at;
  if (parent.group === undefined) return [];
  // What is moved may itself receive from the place that it is moved to: as what it was before.
  const newlyShared = shareAll(tree, source);
  const copies: { mount: Mount; at: Path }[] = [];
  for (const peer of tree.groups.members(parent.group)) {
    if (peer === parent || !reaches(peer, dentry)) continue;
    copies.push({ mount: tree.copyTree(source), at: { mount: peer, dentry } });
  }
  toSlaves(source, parent.group);
  return copies;

  /** @param nearest the copy for the nearest group above that got one: what those beneath it receive from */
  function toSlaves(nearest: Mount, group: number): void {
    const done = new Set<number>();
    for (const slave of tree.groups.slaves(group)) {
      if (slave.namespace === undefined) continue; // a copy that was just made
      if (slave.group === undefined || newlyShared.has(slave)) {
        if (!reaches(slave, dentry)) continue;
        copies.push({ mount: tree.copyTree(nearest, nearest.root, "slave"), at: { mount: slave, dentry } });
      } else if (!done.has(slave.group)) {
        done.add(slave.group);
        let first: Mount | undefined;
        for (const member of tree.groups.members(slave.group)) {
          if (!reaches(member, dentry)) continue;
          const copy = first === undefined ? tree.copyTree(nearest, nearest.root, "sharedSlave") : tree.copyTree(first);
          first ??= copy;
          copies.push({ mount: copy, at: { mount: member, dentry } });
        }
        toSlaves(first ?? nearest, slave.group);
      }
    }
  }
}

function shareAll(tree: Copying, source: Mount): ReadonlySet<Mount> {
  const shared = new Set<Mount>();
  for (const mount of subtree(source)) {
    if (mount.group !== undefined) continue;
    tree.groups.share(mount);
    shared.add(mount);
  }
  return shared;
}

/** A mount that is attached nowhere, which may be what is being attached, receives nothing. */
function reaches(mount: Mount, dentry: Dentry): boolean {
  return mount.namespace !== undefined && relativeTo(mount.root, dentry) !== undefined;
}
