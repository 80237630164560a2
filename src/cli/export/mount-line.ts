import type { VolumeSource } from "../../api/types.gen.ts";

/** A line of a node's fstab, or of its mount table. */
export interface MountLine {
  /** fstab's first field; in a mount table what is mounted, for a bind the directory on the node. */
  readonly source: string;
  /** Without a trailing slash or repeated slashes. */
  readonly target: string;
  readonly type: string;
  readonly options: readonly string[];
  /** A directory or file of the node itself, mounted a second time. */
  readonly bind: boolean;
  /** Its number in the file. */
  readonly line: number;
  /** Whether the kernel wrote the options: it reports defaults and negotiated values, too. */
  readonly byKernel: boolean;
  /** Why no set can be made, whatever the source is. */
  readonly unfit?: string;
}

/** A file of mounts, parsed. */
export interface MountFile {
  readonly kind: "fstab" | "/proc/mounts" | "mountinfo";
  readonly lines: readonly MountLine[];
  /** Lines that cannot be parsed, by number. */
  readonly unread: readonly number[];
}

/** A line as bytes, one per character, and its number. */
export interface RawLine {
  readonly content: string;
  readonly line: number;
}

/** What a line names as a volume. */
export interface ExportedSource {
  readonly source: VolumeSource;
  readonly notes: readonly string[];
  /** Options that the type of the line stands for. */
  readonly options: readonly string[];
  /** What mountOptions of a device need beside it. */
  readonly fsType?: string;
  /** Whether an agent can take over what is mounted. */
  readonly adoptable?: boolean;
}

/** Why a line is no source. It never repeats the line: that may hold a password. */
export interface NoSource {
  readonly reason: string;
}
