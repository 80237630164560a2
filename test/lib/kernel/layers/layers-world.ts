import type { RealNode } from "../real-node.ts";

/** Where volumes with layers are tried: on device-mapper, or on what stands for it. */
export interface LayersWorld {
  readonly title: string;
  /** Skips the suite where it cannot be had. */
  need(context: Mocha.Context): void;
  node(): RealNode;
  /** A volume group of this size, gone with the node. @returns its name */
  group(node: RealNode, megabytes: number): string;
  /** What is open of headers of ours. */
  opened(node: RealNode): readonly string[];
  /** Of a volume group, each logical volume: name, whether it has a device, and tags. */
  volumes(node: RealNode, group: string): readonly string[];
  /**
   * A file system that grows while it is mounted, with the smallest size for it in MiB, and one that it is too small
   * for.
   */
  readonly grows: { readonly fsType: "ext4" | "xfs"; readonly megabytes: number };
}
