/** Who the files of a volume belong to. Changed in a child, whatever they are on: there may be many. */
export interface Ownership {
  /**
   * Applies an fsGroup to all files of a mount or directory, the root last, so that a matching root shows that all was
   * done (behaviour 75). No link is followed and no mount beneath is entered. Files that refuse are counted and do not
   * stop the others. It may be cut off anywhere and begun again. The only deadline is that of one entry: it continues
   * as long as it makes progress. An entry that is removed meanwhile is ignored; a directory that cannot be read ends
   * it. Fails with TargetChanged if the mount is no longer at its path.
   * @param onProgress called with the number of visited entries, every second
   * @param unwanted when it is aborted, this ends as if it was cut off: SetUpFailed, uncertain. It may also complete
   */
  give(
    request: OwnershipRequest,
    onProgress: (entries: number) => void,
    unwanted?: AbortSignal,
  ): Promise<OwnershipResult>;
}

/**
 * A volume whose files are to belong to a group (kubelet's SetVolumeOwnership), and the mount that they are changed in.
 */
export interface OwnershipRequest {
  /** Where it is, without links on the way. */
  readonly path: string;
  /** Of the mount that is there, or that it is in. */
  readonly mountID: number;
  /** `major:minor` of its file system. */
  readonly device: string;
  /** What the file system calls a directory that is no mount; undefined: it is the mount. */
  readonly directory?: string;
  readonly fsGroup: number;
  /** Nobody writes to it: the group may read. */
  readonly readOnly?: boolean;
  readonly policy: FSGroupChangePolicy;
}

/** core/v1 PodFSGroupChangePolicy: OnRootMismatch leaves everything as it is if the root fits. */
export type FSGroupChangePolicy = "Always" | "OnRootMismatch";

/** How many files were visited, and which could not be changed. */
export interface OwnershipResult {
  /** Entries that were come to, the root among them; 0 if the root fitted, and nothing was looked at. */
  readonly entries: number;
  /** Of these, those that stay as they were. */
  readonly failed: number;
  /** The first few of them: path beneath the root, and why. */
  readonly examples: readonly string[];
  /** The root is one of them. */
  readonly rootFailed?: boolean;
}
