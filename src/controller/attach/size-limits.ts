import type { GrantedCSIVolume } from "../../api/types.gen.ts";

/** Limits of `spec.grant` in the schema. What is beyond them is refused with a reason and never cut. Pure. */

const longest = { volumeHandle: 512, fsType: 32, key: 128, value: 512, option: 256, contextValue: 1024 } as const;
const most = { attributes: 24, options: 32, contextEntries: 32, contextBytes: 4096 } as const;

/** What of a volume is larger than an intent can say; undefined if nothing is. */
export function tooLarge({
  volumeHandle,
  fsType,
  volumeAttributes,
  mountOptions,
}: GrantedCSIVolume): string | undefined {
  const attributes = Object.entries(volumeAttributes ?? {});
  if (volumeHandle.length > longest.volumeHandle) return "the volume's handle has more than 512 characters";
  if ((fsType ?? "").length > longest.fsType) return "the volume's fsType has more than 32 characters";
  if (attributes.length > most.attributes) return `the volume has ${attributes.length} attributes, at most 24 fit`;
  const long = attributes.find(([key, value]) => key.length > longest.key || value.length > longest.value);
  if (long !== undefined)
    return `the volume's attribute ${long[0].slice(0, longest.key)} is too long: at most 512 characters`;
  if ((mountOptions ?? []).length > most.options) return "the PersistentVolume has more than 32 mountOptions";
  if (mountOptions?.some((option) => option.length > longest.option))
    return "one of mountOptions has more than 256 characters";
  return undefined;
}

/** What of the driver's publish context is larger than 4 KiB or the schema (safety rule 26). */
export function contextTooLarge(context: { readonly [key: string]: string }): string | undefined {
  const entries = Object.entries(context);
  const bytes = new TextEncoder().encode(entries.flat().join("")).length;
  if (bytes > most.contextBytes) return `the driver's attachmentMetadata has ${bytes} bytes, at most 4096 fit`;
  if (entries.length > most.contextEntries)
    return `the driver's attachmentMetadata has ${entries.length} entries, at most 32 fit`;
  const long = entries.find(([, value]) => value.length > longest.contextValue);
  return long && `the driver's attachmentMetadata ${long[0].slice(0, 128)} has more than 1024 characters`;
}
