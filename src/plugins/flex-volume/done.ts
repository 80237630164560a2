import { VolumeError } from "../../errors.ts";
import type { TargetPath } from "../../host/ports/types.ts";
import type { TearDownData } from "../api/teardown-data.ts";

/**
 * How far something got that has to be undone: `begun` before the driver is asked, as it may have been done; `done`
 * once the mount table agrees; `ours` if the agent did it, because the driver does not support it.
 */
export type Progress = "begun" | "done" | "ours";

/** What was done of a volume: enough to undo it without its spec. No secrets. */
export interface FlexDone {
  readonly driver: string;
  /** What the volume is called to the driver. */
  readonly volume: string;
  /** The node as the driver was told of it. */
  readonly node: string;
  readonly attach?: Progress;
  /** Where the driver has put the device; "" if it does not say. */
  readonly device?: string;
  readonly deviceMount?: Progress;
  readonly mount?: Progress;
}

/** PURE. The record's data for undoing a flexvolume. */
export function tearDownDataOf(done: FlexDone): TearDownData {
  return { ...done };
}

/** PURE. @throws Error if it was written by another plugin, or is damaged */
export function doneOf(undo: TearDownData): FlexDone {
  const { driver, volume, node, device, ...progress } = undo;
  if (driver === undefined || volume === undefined || node === undefined) {
    throw new Error("what a flexvolume has to undo is damaged: it names no driver, volume or node");
  }
  const known = device === undefined ? {} : { device };
  return { driver, volume, node, ...known, ...(progress as Pick<FlexDone, "attach" | "deviceMount" | "mount">) };
}

/** Where the driver mounts the device, which it or the agent then brings to the staging path (kubelet: mounts/NAME). */
export function deviceTarget({ prefix, path }: TargetPath): TargetPath {
  return { prefix, path: `${path}.device` };
}

/** The driver said OK, and the mount table shows something else: it is not believed. */
export function falseReply(driver: string, command: string, instead: string, path: string): VolumeError {
  const message = `${driver} answered ${command} with Success, but ${instead}`;
  return new VolumeError("DriverReplyFalse", "transient", message, { on: { kind: "Mount", name: path } });
}
