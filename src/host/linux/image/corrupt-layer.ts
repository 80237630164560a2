import { VolumeError } from "../../../errors.ts";

/** A layer that is not what it should be: the same bytes come again, so it is not tried again by itself. */
export function corruptLayer(why: string): VolumeError {
  const message = `a layer of the image ${why}: no part of the image is shown. Name another image`;
  return new VolumeError("ContentRefused", "final", message);
}
