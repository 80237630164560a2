import type { ImageVolumeSource } from "../../api/types.gen.ts";
import { quantityBytes } from "../../api/values/quantity.ts";
import type { UnpackRequest } from "../../host/ports/images.ts";
import { type StageContext, type StagingPlugin, sourceOf } from "../api/volume-plugin.ts";
import { defaultSizeLimit, shownData, stageFetched } from "./fetched.ts";
import { registryAccess } from "./image-access.ts";

/**
 * The files of a container image, in a directory of our own, shown read-only. (kubelet: pkg/volume/image, of which the
 * container runtime does all)
 */
export const image: StagingPlugin = {
  type: "image",
  discards: true,

  layout: () => ({ options: [], readOnly: true, devices: false, shownData, group: "walk" }),

  stage(spec, context) {
    const { sizeLimit } = sourceOf(spec, "image");
    const limit = sizeLimit === undefined ? defaultSizeLimit : Number(quantityBytes(sizeLimit));
    const request = { directory: context.dataPath, sizeLimit: limit };
    const progress = (message: string) => context.progress(`image: ${message}`);
    return stageFetched(context, ["new"], async () => {
      await context.images.unpack({ ...request, from: await whereFrom(sourceOf(spec, "image"), context) }, progress);
    });
  },
};

async function whereFrom(
  { reference = "", layout, secretRef }: ImageVolumeSource,
  context: StageContext,
): Promise<UnpackRequest["from"]> {
  if (layout !== undefined) return { layout: { root: context.hostRoot, path: layout.path }, digest: layout.digest };
  const access = secretRef && registryAccess(reference, await context.secret(secretRef), secretRef);
  return { reference, ...(access && { access }) };
}
