import type { LocalVolumeSource } from "../../api/types.gen.ts";
import { mapperName } from "../../host/ports/block-layers.ts";
import type { ExpandContext } from "../api/teardown.ts";
import type { TearDownData } from "../api/teardown-data.ts";
import type { VolumeSpec } from "../api/volume-plugin.ts";
import { refuseOtherVolume } from "./layer-refusals.ts";
import { madeOf } from "./local-teardown.ts";
import { passphraseOf } from "./passphrase.ts";

/** A local volume on LVM or LUKS that is to be expanded. */
export interface LayeredGrowth {
  readonly spec: VolumeSpec;
  readonly source: LocalVolumeSource;
  /** Bytes. */
  readonly size: { readonly to: string };
  readonly undo: TearDownData;
}

/**
 * Grows a logical volume, what is opened on it, and the file system on that, from below, while it is mounted. Done
 * already is done.
 */
export async function expandLayers({ spec, source, size, undo }: LayeredGrowth, context: ExpandContext): Promise<void> {
  const { layers, devices, content } = context;
  const { volume, volumeIdentity, mapping } = madeOf(undo);
  if (volume === undefined) throw new Error("a volume without a logical volume is asked to grow");
  refuseOtherVolume(volume, await layers.logicalVolume(volume), volumeIdentity);
  await layers.growLogicalVolume(volume, BigInt(size.to));
  if (mapping !== undefined && source.encryption?.secretRef !== undefined) {
    await layers.resizeLUKS(mapping, passphraseOf(content?.[0], source.encryption.secretRef));
  }
  if (spec.volumeMode === "Block") return;
  const top = await layers.mapped(mapping ?? mapperName(volume));
  const mount = (await context.tableNow()).at(context.stagingTarget.path);
  if (top !== undefined && mount !== undefined) await devices.grow(top.path, mount.fsType, mount.point);
}
