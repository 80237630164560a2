import { mapperName } from "../../host/ports/block-layers.ts";
import type { ExpandingPlugin } from "../api/teardown.ts";
import { sourceOf } from "../api/volume-plugin.ts";
import { refuseOtherVolume } from "./layer-refusals.ts";
import { madeOf } from "./local-teardown.ts";
import { passphraseOf } from "./passphrase.ts";

/** Grows a logical volume, what is opened on it, and the file system on that, from below, while mounted. Idempotent. */
export const expandLayers: ExpandingPlugin["expand"] = async (spec, { to }, undo, context) => {
  const { layers, devices, content } = context;
  const { volume, volumeIdentity, mapping } = madeOf(undo);
  if (volume === undefined) throw new Error("a volume without a logical volume is asked to grow");
  refuseOtherVolume(volume, await layers.logicalVolume(volume), volumeIdentity);
  await layers.growLogicalVolume(volume, BigInt(to));
  const secretRef = sourceOf(spec, "local").encryption?.secretRef;
  if (mapping !== undefined && secretRef !== undefined) {
    await layers.resizeLUKS(mapping, passphraseOf(content?.[0], secretRef));
  }
  if (spec.volumeMode === "Block") return;
  const top = await layers.mapped(mapping ?? mapperName(volume));
  const mount = (await context.tableNow()).at(context.stagingTarget.path);
  if (top !== undefined && mount !== undefined) await devices.grow(top.path, mount.fsType, mount.point);
};
