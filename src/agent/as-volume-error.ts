import { messageOf, VolumeError } from "../errors.ts";
import { isRemoval, type Operation } from "./operations.ts";

/** Whatever a port threw, as a failure that users can be told of. */
export function asVolumeError(thrown: unknown, operation: Operation): VolumeError {
  if (thrown instanceof VolumeError) return thrown;
  const reason = isRemoval(operation) ? "TearDownFailed" : "SetUpFailed";
  return new VolumeError(reason, "transient", messageOf(thrown), { cause: thrown });
}
