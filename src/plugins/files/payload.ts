import type { DownwardAPIVolumeFile, KeyToPath } from "../../api/types.gen.ts";
import { quantityRatio } from "../../api/values/quantity.ts";
import { VolumeError } from "../../errors.ts";
import type { PayloadFile } from "../../host/ports/host-ports.ts";
import type { ObjectContent } from "../api/content.ts";
import { fieldOf } from "./node-fields.ts";

/** core/v1: ConfigMapVolumeSourceDefaultMode, and the like of the others. */
export const defaultMode = 0o644;

/** PURE. The keys of an object as files. @throws VolumeError KeyNotFound */
export function keyFiles(
  source: { items?: readonly KeyToPath[]; optional?: boolean },
  content: ObjectContent,
  { mode, what }: { readonly mode: number; readonly what: string },
): PayloadFile[] {
  if (source.items === undefined || source.items.length === 0) {
    return [...content.data].map(([key, value]) => ({ path: key, content: value, mode }));
  }
  return source.items.flatMap((item) => {
    const value = content.data.get(item.key);
    if (value !== undefined) return [{ path: item.path, content: value, mode: item.mode ?? mode }];
    if (source.optional === true) return [];
    throw new VolumeError("KeyNotFound", "final", `${what} has no key ${item.key}, which items names`);
  });
}

/** PURE. Fields of the Node as files. */
export function fieldFiles(
  items: readonly DownwardAPIVolumeFile[],
  content: ObjectContent,
  mode: number,
): PayloadFile[] {
  return items.map((item) => {
    const text = new TextDecoder().decode(content.data.get(fieldOf(item)));
    const { resourceFieldRef } = item;
    const shown = resourceFieldRef === undefined ? text : String(quantityRatio(text, resourceFieldRef.divisor ?? "1"));
    return { path: item.path, content: new TextEncoder().encode(shown), mode: item.mode ?? mode };
  });
}

/**
 * PURE. The files of several sources in one directory; of two with the same path the later is shown, as kubelet does.
 * @throws VolumeError FileConflict where one would be a file and a directory
 */
export function mergedFiles(sources: readonly (readonly PayloadFile[])[]): PayloadFile[] {
  const files = new Map(sources.flat().map((file) => [file.path, file]));
  for (const path of files.keys()) {
    for (let end = path.indexOf("/"); end !== -1; end = path.indexOf("/", end + 1)) {
      const above = path.slice(0, end);
      if (!files.has(above)) continue;
      const message = `${above} is a file of one source and the directory of ${path} of another: give one of them another path in items`;
      throw new VolumeError("FileConflict", "final", message);
    }
  }
  return [...files.values()];
}
