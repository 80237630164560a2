import { type DesiredVolume, isInvalid } from "../../../src/agent/model/desired.ts";
import { asVolumeName, type VolumeName } from "../../../src/agent/model/identities.ts";
import { pathOf } from "../../sim/kernel/lookup.ts";
import type { Mount } from "../../sim/kernel/mount.ts";
import { layout } from "../../sim/machine.ts";
import { soleMount } from "./evidence.ts";
import type { LawNode } from "./node.ts";
import { overlap } from "./paths.ts";

/**
 * What is still not as the intents say, by what the machine has; nothing is asked of the agent but what it waits for.
 */
export function unmet(node: LawNode): string[] {
  return [...[...node.desired.keys()].flatMap((name) => unmetOf(name, node)), ...leftOver(node)];
}

/** Whether a volume waits for something that no agent can bring about. */
export function isHindered(name: VolumeName, node: LawNode): boolean {
  const desired = node.desired.get(name);
  if (desired === undefined) return false;
  if (isInvalid(desired)) return !desired.deleting || hasUnexplained(name, node);
  if (desired.mode === "Observe" || desired.suspend) return !desired.deleting;
  const { source, fsType } = desired.spec;
  const disk = node.machine.disks.get(source.local?.path ?? "");
  if (disk?.garbage === true || (disk?.filesystem !== undefined && disk.filesystem.fsType !== fsType)) return true;
  return desired.deleting ? hasUnexplained(name, node) : isInConflict(desired, node) || hasUnexplained(name, node);
}

/** What an intent before it left behind, which vanished: it is kept until people decide. */
function hasUnexplained(name: VolumeName, { records, desired }: LawNode): boolean {
  const uid = desired.get(name)?.uid;
  return records.get(name)?.targets.some((target) => target.uid !== uid) === true;
}

function isInConflict({ name, mounts }: DesiredVolume, { desired, records }: LawNode): boolean {
  const wanted = [...desired.values()].flatMap((other) => {
    if (other.name === name || isInvalid(other) || other.mode === "Observe") return [];
    return other.mounts;
  });
  const had = [...records.values()].flatMap((other) => (other.name === name ? [] : other.targets));
  return mounts.some(({ path }) => [...wanted, ...had].some((other) => overlap(other.path, path)));
}

function unmetOf(name: VolumeName, node: LawNode): string[] {
  const desired = node.desired.get(name);
  if (desired === undefined || isHindered(name, node)) return [];
  if (desired.deleting || isInvalid(desired)) return [`${name} is not released`];
  return desired.mounts.flatMap(({ path, attributes }) => {
    const { host } = node.machine.kernel;
    const entry = soleMount(node.machine.table(host), path);
    const mount = [...host.mounts].find(({ id }) => id === entry?.id);
    if (mount === undefined) return [`${path} of ${name} has not one mount`];
    if (!showsVolume(mount, path, desired, node)) return [`${path} of ${name} shows ${mount.root.path}`];
    const { readOnly, noexec } = mount.attributes;
    const as = readOnly === attributes.readOnly && noexec === attributes.noexec;
    return as ? [] : [`${path} of ${name} has other flags`];
  });
}

function showsVolume(mount: Mount, path: string, { spec }: DesiredVolume, { machine }: LawNode): boolean {
  const { source, key } = spec;
  const hostPath = source.hostPath?.path ?? source.local?.path;
  const disk = machine.disks.get(hostPath ?? "");
  if (disk !== undefined) return mount.superblock === disk.filesystem;
  if (hostPath !== undefined) return machine.shows(path, hostPath);
  if (source.secret !== undefined || source.emptyDir?.medium === "Memory") {
    return mount.superblock.fsType === "tmpfs" && mount.superblock.source === `nodevolume-${key}`;
  }
  return mount.root.path === `${layout.stateDir}/data/${key}`;
}

/** Mounts of the agent for volumes that nobody wants, and of which nobody knows any more. */
function leftOver(node: LawNode): string[] {
  const mounts = [...(node.namespace?.mounts ?? [])].filter(({ maker }) => maker === "agent");
  return mounts.flatMap((mount) => {
    const name = mount.volume ?? "";
    const path = mount.parent && mount.point && pathOf({ mount: mount.parent, dentry: mount.point });
    return node.desired.has(asVolumeName(name)) || node.records.has(asVolumeName(name))
      ? []
      : [`${path} of ${name} is left over`];
  });
}
