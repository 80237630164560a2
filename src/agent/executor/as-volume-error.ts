import { messageOf, VolumeError } from "../../errors.ts";
import { isRemoval, type Operation } from "../model/operation.ts";

/** Whatever a port threw, as a failure that users can be told of. */
export function asVolumeError(thrown: unknown, operation: Operation): VolumeError {
  if (thrown instanceof VolumeError) return thrown;
  const reason = isRemoval(operation) ? "TearDownFailed" : "SetUpFailed";
  return new VolumeError(reason, "transient", messageOf(thrown), { cause: thrown });
}

/**
 * PURE. With devices by the paths that the node has for them. The agent opens them beneath `hostRoot`, where nobody
 * looks who reads a message.
 */
export function withNodeDevices(error: VolumeError, hostRoot: string): VolumeError {
  if (hostRoot === "/") return error;
  const escaped = hostRoot.replace(/[^\w/]/g, "\\$&");
  const onNode = (text: string) => text.replace(new RegExp(`(?<![\\w./-])${escaped}(?=/dev/)`, "g"), "");
  const { reason, errorClass, on, heldBy, cause } = error;
  const message = onNode(error.message);
  const of = on && { on: { ...on, name: onNode(on.name) } };
  if (message === error.message && of?.on.name === on?.name) return error;
  return new VolumeError(reason, errorClass, message, { cause, ...of, heldBy });
}
