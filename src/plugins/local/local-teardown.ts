import type { LogicalVolumeName } from "../../host/ports/block-layers.ts";
import type { TearDownContext } from "../api/teardown.ts";
import type { TearDownData } from "../api/teardown-data.ts";
import type { VolumeSpec } from "../api/volume-plugin.ts";

/** What was made beneath a local volume: enough to take it back without its spec. No secrets. */
export interface LayersMade {
  /** Name of the device-mapper device that a LUKS header was opened as. */
  readonly mapping?: string;
  readonly volume?: LogicalVolumeName;
  /** LogicalVolumeInfo.identity of it: a name is what any disk of the node may say. */
  readonly volumeIdentity?: string;
  /** The logical volume had no device before we gave it one. */
  readonly activated?: boolean;
  /**
   * The newest layer is ours, and nothing was ever finished on it: what it shows is the noise of an old volume or of a
   * new key, and it may be formatted without being empty (law L11, decision 0053).
   */
  readonly fresh?: "volume" | "header";
}

/** The same, while it is put together. */
export type MaybeMade = { readonly [M in keyof LayersMade]: LayersMade[M] | undefined };

/** PURE. */
export function tearDownDataOf({ mapping, volume, volumeIdentity, activated, fresh }: MaybeMade): TearDownData {
  return {
    ...(mapping !== undefined && { mapping }),
    ...volume,
    ...(volumeIdentity !== undefined && { volumeIdentity }),
    ...(activated === true && { activated: "true" }),
    ...(fresh !== undefined && { fresh }),
  };
}

/** PURE. */
export function madeOf(undo: TearDownData): LayersMade {
  const { mapping, volumeGroup, logicalVolume, volumeIdentity, activated, fresh } = undo;
  const named = volumeGroup !== undefined && logicalVolume !== undefined;
  return {
    ...(mapping !== undefined && { mapping }),
    ...(named && { volume: { volumeGroup, logicalVolume } }),
    ...(volumeIdentity !== undefined && { volumeIdentity }),
    ...(activated === "true" && { activated: true }),
    ...((fresh === "volume" || fresh === "header") && { fresh }),
  };
}

/** PURE. What the opened device is called, and a logical volume that we make is tagged with: it tells whose it is. */
export function mappingOf({ key }: Pick<VolumeSpec, "key">): string {
  return `nodevolume-${key}`;
}

/** PURE. UUID of a header of ours: it tells one that we made for this volume from any other. */
export function uuidOf({ key }: Pick<VolumeSpec, "key">): string {
  const [, ...parts] = /^(.{8})(.{4})(.{4})(.{4})(.{12})$/.exec(key.padEnd(32, "0")) ?? [];
  return parts.join("-");
}

/** PURE. The same of a header with a random key: it says by itself that nobody can open it any more. */
export function randomUUIDOf({ key }: Pick<VolumeSpec, "key">): string {
  return uuidOf({ key: [...key].reverse().join("") });
}

/**
 * Closes what was opened, and takes its device from a logical volume that had none. What is on them stays. One that we
 * were about to make is ours by its tag: somebody else may have made one of this name.
 */
export async function closeLayers(undo: TearDownData, { layers, stagingTarget }: TearDownContext): Promise<void> {
  const { mapping, volume, volumeIdentity, activated, fresh } = madeOf(undo);
  if (mapping !== undefined) await layers.closeLUKS(mapping);
  if (volume === undefined || activated !== true) return;
  const now = await layers.logicalVolume(volume);
  const key = stagingTarget.path.slice(stagingTarget.path.lastIndexOf("/") + 1);
  const ours = fresh !== "volume" || now?.tags.includes(mappingOf({ key })) === true;
  const same = volumeIdentity === undefined || now?.identity === undefined || volumeIdentity === now.identity;
  if (now?.active === true && ours && same) await layers.activate(volume, false);
}
