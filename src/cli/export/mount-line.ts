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
