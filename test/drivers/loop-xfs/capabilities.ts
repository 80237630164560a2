import {
  type CapacityRange,
  VolumeCapability_AccessMode_Mode as Mode,
  type VolumeCapability,
} from "../../../src/csi/gen/csi.gen.ts";
import { Refusal } from "../lib/serve.ts";
import { smallest } from "./storage.ts";

/** Modes in which more than one node may have the volume. */
const multiNode: readonly number[] = [
  Mode.MULTI_NODE_READER_ONLY,
  Mode.MULTI_NODE_SINGLE_WRITER,
  Mode.MULTI_NODE_MULTI_WRITER,
];
const readers: readonly number[] = [Mode.SINGLE_NODE_READER_ONLY, Mode.MULTI_NODE_READER_ONLY];

/** @throws Refusal if there is none, or one that no volume of ours has */
export function understood(capability: VolumeCapability | undefined): VolumeCapability {
  if (capability === undefined) throw new Refusal("INVALID_ARGUMENT", "volume_capability is missing");
  const problem = unsupported(capability);
  if (problem !== undefined) throw new Refusal("INVALID_ARGUMENT", problem);
  return capability;
}

/** Why a volume can't be used so; undefined if it can. */
export function unsupported({ block, mount, accessMode }: VolumeCapability): string | undefined {
  const mode = accessMode?.mode ?? Mode.UNKNOWN;
  if (mode === Mode.UNKNOWN || mode === Mode.UNRECOGNIZED) return "access_mode is missing or not known";
  if ((block === undefined) === (mount === undefined)) return "exactly one of block and mount is needed";
  if (mount === undefined) return undefined;
  if (mount.fsType !== "" && mount.fsType !== "xfs") return `no file system ${mount.fsType} is made here, only xfs`;
  // xfs is a file system of one machine: several may read it, none may write while others have it.
  if (multiNode.includes(mode) && mode !== Mode.MULTI_NODE_READER_ONLY)
    return "xfs can't be written from several nodes";
  return undefined;
}

export function isMultiNode(capability: VolumeCapability): boolean {
  return multiNode.includes(capability.accessMode?.mode ?? Mode.UNKNOWN);
}

export function isReader(capability: VolumeCapability): boolean {
  return readers.includes(capability.accessMode?.mode ?? Mode.UNKNOWN);
}

/** At most one target on the node. */
export function isSingleWriter(capability: VolumeCapability): boolean {
  return capability.accessMode?.mode === Mode.SINGLE_NODE_SINGLE_WRITER;
}

/** Bytes that a volume gets. @throws Refusal if no size is in the range */
export function sizeFor(range: CapacityRange | undefined, free: number): number {
  const required = Number(range?.requiredBytes ?? 0);
  const limit = Number(range?.limitBytes ?? 0);
  if (required < 0 || limit < 0 || (limit > 0 && required > limit)) {
    throw new Refusal("INVALID_ARGUMENT", `no size is at least ${required} and at most ${limit}`);
  }
  const size = Math.max(Math.ceil(required / 4096) * 4096, smallest);
  if (limit > 0 && size > limit) throw new Refusal("OUT_OF_RANGE", `the smallest volume has ${size} bytes`);
  if (size > free) throw new Refusal("OUT_OF_RANGE", `${size} bytes are wanted, ${free} are left`);
  return size;
}

export function fits(size: number, range: CapacityRange | undefined): boolean {
  const limit = Number(range?.limitBytes ?? 0);
  return size >= Number(range?.requiredBytes ?? 0) && (limit === 0 || size <= limit);
}
