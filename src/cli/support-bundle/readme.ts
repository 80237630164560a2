import type { Gap } from "./bundle.ts";

/** Inputs of a bundle's README. */
export interface ReadmeInput {
  readonly time: string;
  readonly node: string | undefined;
  readonly gaps: readonly Gap[];
  readonly files: readonly { readonly path: string; readonly bytes: number }[];
}

/** PURE. What whoever opens the archive reads first. */
export function readme({ time, node, gaps, files }: ReadmeInput): string {
  const missing = gaps.map(({ what, why }) => `  ${what}: ${why}`);
  return [
    `Made by kubectl nvi support-bundle at ${time}, of ${node === undefined ? "the whole cluster" : `node ${node}`}.`,
    "",
    "Look here first: troubles.txt has every condition that is not as it should be.",
    "",
    "It holds names of nodes, namespaces, sets, servers and paths, and labels of nodes. It holds no Secret: none was read, and what",
    "looks like a secret was replaced by [redacted], so were variables of pods that are no settings of ours and what only a CSI driver",
    "understands (volumeAttributes, publishContext, attachmentMetadata, options). Annotations that are neither ours nor Kubernetes',",
    "copies of objects (last-applied-configuration), managedFields, addresses and images of nodes, and pods of other namespaces are",
    "not in it. Look at it before you give it on.",
    "",
    missing.length === 0 ? "All of it could be read." : "What is not in it, and why:",
    ...missing,
    "",
    "Files, with their bytes:",
    ...files.map(({ path, bytes }) => `  ${path}: ${bytes}`),
    "",
  ].join("\n");
}
