import { VolumeError } from "../../../errors.ts";

/** The driver said OK, and the mount table shows something else: it is not believed. */
export function falseReply(driver: string, call: string, instead: string, path: string): VolumeError {
  const message = `${driver} answered ${call} with OK, but ${instead}`;
  return new VolumeError("DriverReplyFalse", "transient", message, { on: { kind: "Mount", name: path } });
}
