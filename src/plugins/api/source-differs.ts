import { VolumeError, type WaitingOn } from "../../errors.ts";

/**
 * What a volume leads to now is not what it was set up with, which may be in use on the node still: nothing is set up
 * in its place.
 * @param what says so, with both of them
 * @param remedy brings the former one back
 */
export function sourceDiffers(what: string, remedy: string, on?: WaitingOn): VolumeError {
  const message = `${what}. ${remedy}; or take this node out of the set's nodeSelector until the volume is released, and back in, to set it up with what is there then`;
  return new VolumeError("SourceDiffers", "final", message, on && { on });
}
