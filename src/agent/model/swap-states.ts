import type { SwapSource, SwapTable } from "../../host/ports/swaps.ts";
import type { VolumeName } from "./identities.ts";
import type { VolumeRecord } from "./volume-record.ts";

/** Whether the node swaps to the device that a volume's record names; unknown where that cannot be told (law L2). */
export type SwapState = "on" | "off" | "unknown";

/**
 * By the kernel's table, which is read now, of each volume that has a swap device on record.
 * @param source undefined: nothing is known of swap
 */
export function swapStates(
  records: ReadonlyMap<VolumeName, VolumeRecord>,
  source: SwapSource | undefined,
): ReadonlyMap<VolumeName, SwapState> {
  const states = new Map<VolumeName, SwapState>();
  let table: { readonly read: SwapTable | undefined } | undefined;
  for (const { name, stage } of records.values()) {
    if (stage?.kind !== "swap" || stage.deviceNumber === undefined) continue;
    table ??= { read: read(source) };
    states.set(name, stateOf(stage.deviceNumber, table.read));
  }
  return states;
}

function stateOf(deviceNumber: string, table: SwapTable | undefined): SwapState {
  if (table?.devices.has(deviceNumber) === true) return "on";
  return table === undefined || table.lost.length > 0 ? "unknown" : "off";
}

/** A table that cannot be read says nothing of any device: each is in use then. */
function read(source: SwapSource | undefined): SwapTable | undefined {
  try {
    return source?.read();
  } catch {
    return undefined;
  }
}
