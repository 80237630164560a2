import { setLabelPrefix } from "../../api/names.ts";
import type { NodeVolumeIntent } from "../../api/types.gen.ts";

/** PURE. Names of the sets that ask for it. */
export function setsOf({ metadata }: NodeVolumeIntent): string[] {
  const labels = Object.keys(metadata.labels ?? {}).filter((key) => key.startsWith(setLabelPrefix));
  return labels.map((key) => key.slice(setLabelPrefix.length)).sort();
}
