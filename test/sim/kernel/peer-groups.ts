import { LowestFree } from "./lowest-free.ts";
import type { Mount } from "./mount.ts";

/** Which mounts propagate to which (mount_namespaces(7)). */
export class PeerGroups {
  readonly #ids = new LowestFree(1);
  readonly #members = new Map<number, Set<Mount>>();
  readonly #slaves = new Map<number, Set<Mount>>();

  /** Makes a mount shared: in this group, or in a new one of its own. */
  share(mount: Mount, group = this.#ids.take()): number {
    this.#leave(mount);
    mount.group = group;
    entry(this.#members, group).add(mount);
    return group;
  }

  /** Makes a mount receive from a group, without giving anything back. */
  follow(mount: Mount, master: number | undefined): void {
    if (mount.master !== undefined) this.#slaves.get(mount.master)?.delete(mount);
    mount.master = master;
    if (master !== undefined) entry(this.#slaves, master).add(mount);
  }

  /** Out of its group, into the state of one that receives from it (MS_SLAVE). */
  makeSlave(mount: Mount): void {
    const { group } = mount;
    if (group === undefined) return;
    const alone = this.#members.get(group)?.size === 1;
    const master = alone ? mount.master : group;
    this.#leave(mount);
    this.follow(mount, master);
  }

  makePrivate(mount: Mount): void {
    this.#leave(mount);
    this.follow(mount, undefined);
  }

  /** Members of a group, oldest first. */
  members(group: number): Mount[] {
    return inOrder(this.#members.get(group));
  }

  /** Mounts that receive from a group, oldest first. */
  slaves(group: number): Mount[] {
    return inOrder(this.#slaves.get(group));
  }

  /** Every mount that what happens on `mount` propagates to. */
  receivers(mount: Mount): Mount[] {
    if (mount.group === undefined) return [];
    const found = new Set<Mount>([mount]);
    const groups = [mount.group];
    for (let group = groups.pop(); group !== undefined; group = groups.pop()) {
      for (const member of this.members(group)) found.add(member);
      for (const slave of this.slaves(group)) {
        if (found.has(slave)) continue;
        found.add(slave);
        if (slave.group !== undefined) groups.push(slave.group);
      }
    }
    found.delete(mount);
    return [...found];
  }

  /** The last one of a group leaves its slaves to its own master. */
  #leave(mount: Mount): void {
    const { group } = mount;
    if (group === undefined) return;
    mount.group = undefined;
    const members = entry(this.#members, group);
    members.delete(mount);
    if (members.size > 0) return;
    this.#members.delete(group);
    for (const slave of this.slaves(group)) this.follow(slave, mount.master);
    this.#slaves.delete(group);
    this.#ids.free(group);
  }
}

function entry(map: Map<number, Set<Mount>>, key: number): Set<Mount> {
  const known = map.get(key) ?? new Set<Mount>();
  map.set(key, known);
  return known;
}

function inOrder(mounts: ReadonlySet<Mount> | undefined): Mount[] {
  return [...(mounts ?? [])].sort((a, b) => a.uniqueID - b.uniqueID);
}
