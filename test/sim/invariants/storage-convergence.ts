import { finalizer, label, resource } from "../../../src/api/names.ts";
import type { NodeVolumeIntent } from "../../../src/api/types.gen.ts";
import { pointOf, rootOf, walk } from "../kernel/lookup.ts";
import { layout } from "../machine.ts";
import type { SimNode } from "../sim-node.ts";
import { attachmentViews } from "./attachment-view.ts";
import type { Expected, Settled } from "./settled.ts";

/** What of attachments and claims is not as the granted intents say; without any, nothing of ours is left. */
export function unmetAttachments(world: Settled, intents: readonly NodeVolumeIntent[]): string[] {
  if (world.csi.kinds.length === 0) return [];
  const granted = world.cluster.intents().flatMap(({ spec }) => (spec.grant?.csi ? [{ ...spec.grant.csi, spec }] : []));
  const wants = (handle: string, node: string) =>
    granted.some(({ volumeHandle, spec }) => volumeHandle === handle && spec.nodeName === node);
  const attachments = attachmentViews(world.server).filter(({ name }) => name.startsWith("nvi-"));
  const missing = intents.flatMap(({ metadata, spec }) => {
    const handle = spec.grant?.csi?.volumeHandle ?? "";
    if (world.csi.storage.volumes.get(handle)?.driver.attach !== true) return [];
    const found = attachments.find((one) => one.handle === handle && one.node === spec.nodeName);
    return found?.attached === true && !found.deleting ? [] : [`${metadata.name} is granted, and not attached`];
  });
  const left = attachments.filter(({ handle, node }) => !wants(handle, node));
  const attached = [...world.csi.storage.volumes.keys()].flatMap((handle) =>
    world.csi.storage.nodesOf(handle).flatMap((node) => {
      const known = attachmentViews(world.server).some((one) => one.handle === handle && one.node === node);
      return known ? [] : [`${handle} is left attached to ${node}`];
    }),
  );
  return [...missing, ...left.map(({ name }) => `${name} is left`), ...attached, ...unmetClaims(world)];
}

/** A claim in use has our finalizer, and so has its PersistentVolume; no other has it, or our label. */
function unmetClaims({ server, cluster }: Settled): string[] {
  const used = new Set(cluster.intents().flatMap(({ spec }) => spec.source.persistentVolumeClaim?.claimName ?? []));
  return server.list(resource.claims).flatMap(({ metadata, ...claim }) => {
    const { volumeName = "" } = (claim["spec"] ?? {}) as { volumeName?: string };
    const persistentVolume = server.get(resource.persistentVolumes, volumeName);
    const holds = (finalizers: readonly string[] = []) => finalizers.includes(finalizer.inUse);
    const isUsed = used.has(metadata.name);
    return [
      ...(holds(metadata.finalizers) === isUsed ? [] : [`claim ${metadata.name}: finalizer while used: ${isUsed}`]),
      ...(holds(persistentVolume?.metadata.finalizers) === isUsed
        ? []
        : [`${volumeName}: finalizer while used: ${isUsed}`]),
      ...((metadata.labels?.[label.held] !== undefined) === isUsed
        ? []
        : [`claim ${metadata.name}: label while used: ${isUsed}`]),
    ];
  });
}

/** Mounts and directories of drivers on a node, of volumes that nobody is granted there. */
export function volumesLeft(
  { csi, server }: Settled,
  { machine, drivers }: SimNode,
  intents: readonly NodeVolumeIntent[],
  { kept = [], mayBeKept = [] }: Expected,
): string[] {
  if (drivers.size === 0) return [];
  const own = intents.filter(({ spec }) => spec.nodeName === machine.name);
  const granted = new Set(own.flatMap(({ spec }) => spec.grant?.csi?.volumeHandle ?? []));
  const others = attachmentViews(server).filter(({ name, node }) => name.startsWith("csi-") && node === machine.name);
  const known = (handle: string) => granted.has(handle) || others.some((one) => one.handle === handle);
  const held = [...csi.storage.volumes.values()].filter(
    ({ handle, driver }) => !known(handle) && drivers.get(driver.name)?.mayHold(handle) === true,
  );
  const directory = walk(rootOf(machine.kernel.host), layout.csiDir, "follow")?.dentry;
  const directories = directory?.children.size ?? 0;
  const mayBeLeft = kept.length + mayBeKept.length; // a record of theirs keeps its directories
  const mounts = [...machine.kernel.host.mounts].filter(
    (mount) => mount.maker === "driver" && pointOf(mount)?.startsWith(layout.csiDir),
  );
  return [
    ...held.map(({ handle }) => `${machine.name}: ${handle} is left set up`),
    ...(directories > granted.size + mayBeLeft
      ? [`${machine.name}: ${directories} directories for ${granted.size} volumes`]
      : []),
    ...(granted.size === 0 ? mounts.map((mount) => `${machine.name}: ${pointOf(mount)} is left mounted`) : []),
  ];
}
