import { VolumeError } from "../../errors.ts";
import { mountIdentity } from "../../host/mount-table/mount-table.ts";
import type { UnmountMode } from "../../host/ports/host-ports.ts";
import type { TargetPath } from "../../host/ports/types.ts";
import { isInvalid } from "../model/desired.ts";
import type { MountPath, VolumeName } from "../model/identities.ts";
import { mountAttributes } from "../model/mount-attributes.ts";
import type { Action } from "../model/operation.ts";
import { podOfPath } from "../model/pod-path.ts";
import { type TargetRecord, type VolumeRecord, withoutTarget, withTarget } from "../model/volume-record.ts";
import { applyFSGroupInPlace, applyVolumeFSGroup } from "./apply-fsgroup.ts";
import { bindTarget, whichMount } from "./bind.ts";
import { publishTarget } from "./csi/target.ts";
import { unpublishByDriver } from "./csi/unpublish.ts";
import { noteCopies } from "./holders/detached-copies.ts";
import { heldBy, names, withUsers } from "./holders/mount-holders.ts";
import { type ActionContext, recordOf, targetPath, wanted } from "./operation-context.ts";
import { stage } from "./stage.ts";
import { partOf } from "./sub-path.ts";

/** Binds the volume to a target. */
export async function publish(context: ActionContext, path: MountPath, replaces: number | undefined): Promise<void> {
  const desired = wanted(context);
  const { mounter } = context.effects;
  const target = targetPath(context, path);
  const mount = desired.mounts.find((m) => m.path === path);
  if (mount === undefined) throw new Error(`${path} is not wanted`);
  if (mount.pod === undefined && podOfPath(context.settings.kubeletDir, path) !== undefined) {
    throw new VolumeError("PathNotAllowed", "final", `${path} is kubelet's: only a pod's own volume is mounted there`);
  }

  const { csi } = desired.layout;
  if (csi !== undefined) return publishTarget(context, desired, csi, { mount, target, replaces });

  if (replaces !== undefined && (await applyFSGroupInPlace(context, desired, mount, replaces))) return;

  // 1. What is to be shown now; of a source that went, what is there instead.
  if (replaces !== undefined) await stage(context);
  const record = recordOf(context, desired.name);
  const source = record.stage;
  if (source?.identity === undefined)
    throw new VolumeError("SetUpFailed", "transient", "the volume is not staged any more");
  const whole = { path: source.path, identity: source.identity, kind: source.fileKind ?? "directory" } as const;
  const { source: part, identity, kind } = await partOf(context, mount, whole);

  // 2. Given to the group that is to use it.
  const shown = replaces === undefined ? undefined : (await context.host.mountTable.read()).byID(replaces);
  const owned = await applyVolumeFSGroup(context, desired, mount, shown);

  // 3. Only then the old mount is given up: a pod may use it.
  if (replaces !== undefined) await mounter.unmount(target, replaces, "Normal", context.uniqueID);

  // 4. Bound.
  const known = record.targets.find((t) => t.path === path);
  const { name, attributes, pod, subPath } = mount;
  // Of a pod, kubelet leaves the mount point to us whoever has made it (CSI: NodeUnpublishVolume deletes it).
  const made = pod !== undefined || (known?.made ?? (await mounter.inspectTarget(target)) === undefined);
  const whose = { ...(pod && { pod }), ...(subPath !== undefined && { subPath }), ...(owned && { owned }) };
  const intended: TargetRecord = { path, name, uid: desired.uid, kind, made, identity, attributes, ...whose };
  await bindTarget(context, desired.name, part, { target, intended });
}

/**
 * Changes the flags of a target's bind mount in place, and records them before that.
 * @throws VolumeError as `Mounter.setAttributes` does
 */
export async function setAttributes(context: ActionContext, path: MountPath, mountID: number): Promise<void> {
  const desired = wanted(context);
  const record = recordOf(context, desired.name);
  const target = record.targets.find((t) => t.path === path);
  const mount = desired.mounts.find((m) => m.path === path);
  if (target === undefined || mount === undefined) throw new Error(`${path} is not ours`);
  const { name, attributes } = mount;
  await context.journal.put(withTarget(record, { ...target, name, attributes }));
  await context.effects.mounter.setAttributes(targetPath(context, path), mountID, attributes, context.uniqueID);
}

/** Writes a mount down as ours that nobody has written down. */
export async function adopt(context: ActionContext, path: MountPath, mountID: number): Promise<void> {
  const desired = wanted(context);
  const mount = desired.mounts.find((m) => m.path === path);
  const found = (await context.host.mountTable.read()).at(path);
  if (mount === undefined || found?.id !== mountID) {
    throw new VolumeError("SetUpFailed", "transient", `the mount on ${path} is not the one that was seen there`);
  }
  const kind =
    (await context.effects.mounter.inspectTarget(targetPath(context, path)))?.kind === "directory"
      ? "directory"
      : "file";
  const identity = mountIdentity(found);
  const attributes = mountAttributes(found); // not those of the spec: to bring it to them is another step
  const { name, pod, subPath } = mount;
  const adopted: TargetRecord = {
    path,
    name,
    uid: desired.uid,
    kind,
    made: pod !== undefined,
    ...(pod && { pod }),
    ...(subPath !== undefined && { subPath }),
    identity,
    attributes,
    ...whichMount(found),
  };
  await context.journal.put(withTarget(recordOf(context, desired.name), adopted));
}

/** Writes down which mount on a target of ours is the one that we made. */
export async function note(
  context: ActionContext,
  volume: VolumeName,
  { path, mountID }: { readonly path: MountPath; readonly mountID: number },
): Promise<void> {
  const record = recordOf(context, volume);
  const target = record.targets.find((t) => t.path === path);
  const mount = (await context.host.mountTable.read()).at(path);
  if (target === undefined || mount?.id !== mountID) {
    throw new VolumeError("SetUpFailed", "transient", `the mount on ${path} is not the one that was seen there`);
  }
  await context.journal.put(withTarget(record, { ...target, ...whichMount(mount) }));
}

/** Mounts that were made for an earlier intent of this name now belong to this one, as far as it names them. */
export async function claim(context: ActionContext): Promise<void> {
  const desired = wanted(context);
  const { retained: _over, revoked: _forOther, ...record } = recordOf(context, desired.name);
  const named = new Set(desired.mounts.map((mount) => mount.path));
  const targets = record.targets.map((t) => (named.has(t.path) ? { ...t, uid: desired.uid } : t));
  await context.journal.put({ ...record, targets });
}

/** Unmounts one mount. @throws VolumeError TargetBusy, with what keeps it busy */
export async function unmount(
  context: ActionContext,
  target: TargetPath,
  mountID: number,
  unmountMode: UnmountMode,
): Promise<void> {
  if (unmountMode === "Lazy") await refuseToTakeAlong(context, mountID);
  try {
    await context.effects.mounter.unmount(target, mountID, unmountMode, context.uniqueID);
  } catch (error) {
    throw await withUsers(error, context, target.path);
  }
}

/** A lazy unmount detaches also what is mounted beneath, which is not ours, or not to go yet (law L6). */
async function refuseToTakeAlong(context: ActionContext, mountID: number): Promise<void> {
  const [beneath] = (await context.host.mountTable.read()).childrenOf(mountID);
  if (beneath === undefined) return;
  const message = `${beneath.point} is mounted beneath it, and would be detached with it: unmount that first`;
  throw new VolumeError("TargetBusy", "transient", message, { on: { kind: "Mount", name: beneath.point } });
}

/** Unmounts a target, removes the mount point if we made it, and drops it from the record. */
export async function unpublish(
  context: ActionContext,
  volume: VolumeName,
  action: Omit<Extract<Action, { readonly kind: "unpublish" }>, "kind">,
): Promise<void> {
  const { path, mountID, unmountMode } = action;
  const place = action.at ?? path;
  const target = targetPath(context, place);
  const { mounter } = context.effects;
  const record = recordOf(context, volume);
  const known = record.targets.find((t) => t.path === path);
  if (mountID !== undefined) await unmount(context, target, mountID, unmountMode);
  if (known?.made === true && (await mayGo(context, record, { known, place }))) {
    await mounter.removeTarget(target, known.kind);
  }
  if (known?.published !== undefined) await unpublishByDriver(context, volume, known);
  await context.journal.put(withoutTarget(recordOf(context, volume), path));
}

/**
 * Whether a mount point of ours may be removed. Removing it would detach a copy of our mount in another mount
 * namespace, and files open there would stay in use where the release check does not find them (safety rule 6). The
 * release of a file system or device waits for the copy. A volume that stays leaves the mount point in place, so that
 * its later release finds the copy. The mount point of a pod is removed with the pod, and the release waits for the
 * copy. A path of the host has no release, and in a directory of ours only files are affected that are removed anyway.
 */
async function mayGo(
  context: ActionContext,
  { name, stage }: VolumeRecord,
  { known, place }: { readonly known: TargetRecord; readonly place: string },
): Promise<boolean> {
  const { path, pod } = known;
  if (stage?.kind === "path" || stage?.kind === "directory") return true;
  const table = await context.host.mountTable.read();
  const point = table.identityOf(place);
  if (point === undefined || table.layers(place).length > 0) return true;
  const copies = () => context.host.evidence.mountedOn(point);
  if (pod !== undefined) {
    await noteCopies(context, name, path, copies);
    return true;
  }
  const holders = await copies();
  if (holders.length === 0) return true;
  const { desired } = context;
  const given = desired !== undefined && !isInvalid(desired) && !desired.deleting;
  if (given && !desired.mounts.some((mount) => mount.path === path)) {
    context.progress(
      `${place} stays as an empty mount point: it is mounted on in another namespace: ${names(holders)}`,
    );
    return false;
  }
  const message = `${place} is still mounted in another mount namespace: ${names(holders)}. End these processes or unmount it there`;
  throw heldBy("StillReferenced", message, holders);
}
