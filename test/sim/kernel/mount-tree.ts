import type { MountAttributes } from "../../../src/host/ports/types.ts";
import { type Dentry, type Maker, relativeTo } from "./dentry.ts";
import { Errno } from "./errno.ts";
import { LowestFree } from "./lowest-free.ts";
import { Mount, type Namespace, type Path } from "./mount.ts";
import { depthOf, isDirectory, isTopped, placeOf, subtree, topmost } from "./mount-relations.ts";
import { PeerGroups } from "./peer-groups.ts";
import { propagated, type Relation } from "./propagate-attach.ts";
import type { Superblock } from "./superblock.ts";

/** Told of each mount that comes or goes, at the moment it does. */
export interface MountListener {
  attached(mount: Mount): void;
  detached(mount: Mount, from: Path): void;
}

/** What a new mount shows, and for whom it was made. */
export interface MountRequest {
  readonly root: Dentry;
  readonly attributes: MountAttributes;
  readonly maker: Maker;
  readonly volume?: string | undefined;
}

/**
 * The mounts of all namespaces of one node, and how what happens in one reaches the others (fs/namespace.c,
 * fs/pnode.c).
 */
export class MountTree {
  readonly groups = new PeerGroups();
  readonly #listener: MountListener;
  readonly #ids = new LowestFree(20);
  #nextUnique = 1;
  /** Told when the last mount of a file system is gone and nobody uses it. */
  readonly #onUnused: (superblock: Superblock) => void;

  constructor(listener: MountListener, onUnused: (superblock: Superblock) => void) {
    this.#listener = listener;
    this.#onUnused = onUnused;
  }

  /** A mount that is attached nowhere yet. */
  create(request: MountRequest): Mount {
    const mount = new Mount({ ...request, id: this.#ids.take(), uniqueID: this.#nextUnique++ });
    mount.root.shownBy.add(mount);
    mount.superblock.references++;
    return mount;
  }

  /** A mount that shows the same, or a part of it, with the same flags; in no group. */
  clone(mount: Mount, root = mount.root): Mount {
    const { attributes, maker, volume } = mount;
    return this.create({ root, attributes, maker, volume });
  }

  /** Makes a mount the root of a namespace. */
  plant(mount: Mount, namespace: Namespace): void {
    mount.namespace = namespace;
    namespace.root = mount;
    namespace.mounts.add(mount);
  }

  /**
   * Attaches a mount, with all that is on it, to a place, and copies of it to all places that the place propagates to.
   */
  attach(mount: Mount, at: Path): void {
    if (at.dentry.unlinked) throw new Errno("ENOENT", "move_mount");
    if (isDirectory(at.dentry) !== isDirectory(mount.root)) throw new Errno("EINVAL", "move_mount");
    const copies = propagated(this, mount, at);
    this.#place(mount, at);
    for (const copy of copies) this.#place(copy.mount, copy.at);
  }

  /** Gives up a mount, with all that is on it, that was attached nowhere. */
  drop(mount: Mount): void {
    for (const each of subtree(mount).reverse()) {
      this.#takeOff(each);
      this.#free(each);
    }
  }

  /** Takes a mount, with all that is on it, from where it is to another place. */
  move(mount: Mount, at: Path): void {
    const from = placeOf(mount);
    const copies = propagated(this, mount, at);
    this.#takeOff(mount);
    this.#listener.detached(mount, from);
    this.#place(mount, at);
    for (const copy of copies) this.#place(copy.mount, copy.at);
  }

  /**
   * @throws Errno EBUSY unless `lazy`: mounts on it, or processes in it, here or where the unmount would propagate to
   */
  detach(mount: Mount, lazy: boolean): void {
    const from = placeOf(mount);
    if (!lazy && this.#isBusy(mount, from)) throw new Errno("EBUSY", "umount2");
    // A lazy unmount takes everything on it along, what lies deepest first.
    const going = subtree(mount).reverse();
    const copies = this.#copiesOf(going);
    for (const each of going) this.#remove(each);
    for (const copy of copies) this.#removeCopy(copy);
  }

  /** Where an unmount of these propagates to, the deepest first (gather_candidates in fs/pnode.c). */
  #copiesOf(mounts: readonly Mount[]): Mount[] {
    const copies = new Set<Mount>();
    for (const mount of mounts) {
      const at = placeOf(mount);
      for (const receiver of this.groups.receivers(at.mount)) {
        const copy = receiver.children.get(at.dentry);
        if (copy !== undefined) copies.add(copy);
      }
    }
    for (const mount of mounts) copies.delete(mount);
    return [...copies].sort((a, b) => depthOf(b) - depthOf(a));
  }

  /** All mounts with this mount point go, in whatever namespace: the directory itself was removed. */
  detachFrom(point: Dentry): void {
    for (const mount of [...point.mountedOn]) {
      for (const each of subtree(mount).reverse()) this.#remove(each);
    }
  }

  /** A namespace whose last process has ended goes with all its mounts, which propagates to nobody. */
  uproot(namespace: Namespace): void {
    if (namespace.root === undefined) return;
    for (const mount of subtree(namespace.root).reverse()) {
      if (mount === namespace.root) this.#free(mount);
      else this.#remove(mount);
    }
    namespace.mounts.clear();
    namespace.root = undefined;
  }

  /** A process lets go of a mount that may be detached already. */
  release(mount: Mount): void {
    mount.users--;
    if (mount.users === 0 && mount.namespace === undefined) this.#free(mount);
  }

  /** As unshare(CLONE_NEWNS) and mount --rbind: the same tree, each copy related to its original as `how` says. */
  copyTree(original: Mount, root = original.root, how: Relation = "peer"): Mount {
    const copy = this.copy(original, root, how);
    for (const [point, child] of original.children) {
      if (relativeTo(root, point) === undefined) continue;
      this.#setPlace(this.copyTree(child, child.root, how), { mount: copy, dentry: point });
    }
    return copy;
  }

  /**
   * A mount that shows the same, or a part of it, with the same flags, and propagation between the two as `how` says.
   */
  copy(original: Mount, root = original.root, how: Relation = "peer"): Mount {
    const copy = this.clone(original, root);
    if (how === "peer") {
      if (original.group !== undefined) this.groups.share(copy, original.group);
      this.groups.follow(copy, original.master);
    } else {
      if (how === "sharedSlave") this.groups.share(copy);
      this.groups.follow(copy, original.group);
    }
    return copy;
  }

  /** Attaches a whole tree to a place that propagates nowhere. */
  attachTree(tree: Mount, at: Path, namespace: Namespace): void {
    this.#setPlace(tree, at);
    for (const mount of subtree(tree)) {
      mount.namespace = namespace;
      namespace.mounts.add(mount);
    }
  }

  /** Where a copy comes upon a mount that is there already, it goes beneath it. */
  #place(mount: Mount, at: Path): void {
    const above = at.mount.children.get(at.dentry);
    if (above !== undefined) {
      this.#takeOff(above);
      const top = topmost(mount);
      this.#setPlace(above, { mount: top, dentry: top.root });
    }
    this.#setPlace(mount, at);
    const { namespace } = at.mount;
    for (const each of subtree(mount)) {
      if (each.namespace !== undefined && each !== mount) continue; // was there before, or was moved
      each.namespace = namespace;
      namespace?.mounts.add(each);
      this.#listener.attached(each);
    }
    namespace?.changed();
  }

  #setPlace(mount: Mount, { mount: parent, dentry }: Path): void {
    mount.parent = parent;
    mount.point = dentry;
    parent.children.set(dentry, mount);
    dentry.mountedOn.add(mount);
  }

  #takeOff(mount: Mount): void {
    if (mount.parent === undefined || mount.point === undefined) return;
    mount.parent.children.delete(mount.point);
    mount.point.mountedOn.delete(mount);
  }

  #isBusy(mount: Mount, from: Path): boolean {
    if (mount.children.size > 0 || mount.users > 0) return true;
    return this.groups.receivers(from.mount).some((receiver) => {
      const copy = receiver.children.get(from.dentry);
      if (copy === undefined) return false;
      const stays = copy.children.size > 0 && !isTopped(copy);
      return !stays && copy.users > 0;
    });
  }

  /** A copy with mounts on it stays, unless the only one covers it completely: that takes its place. */
  #removeCopy(copy: Mount): void {
    if (copy.children.size > 0 && !isTopped(copy)) return;
    const top = copy.children.get(copy.root);
    const at = placeOf(copy);
    if (top !== undefined) this.#takeOff(top);
    this.#remove(copy);
    if (top !== undefined) this.#setPlace(top, at);
  }

  #remove(mount: Mount): void {
    const from = placeOf(mount);
    const { namespace } = mount;
    this.#takeOff(mount);
    namespace?.mounts.delete(mount);
    mount.namespace = undefined;
    this.groups.makePrivate(mount);
    this.#listener.detached(mount, from);
    if (mount.users === 0) this.#free(mount);
    namespace?.changed();
  }

  #free(mount: Mount): void {
    this.groups.makePrivate(mount);
    mount.root.shownBy.delete(mount);
    this.#ids.free(mount.id);
    mount.superblock.references--;
    if (mount.superblock.references === 0) this.#onUnused(mount.superblock);
  }
}
