/**
 * Who the files of a volume belong to. Always changed in a child of its own, whatever they are on: it takes as long as there are
 * files.
 */
export interface Ownership {
  /**
   * Gives all that is on a mount, or in a directory, to a group, the root of it last, so that a root that fits says that all was done (behaviour 75).
   * No link is followed and no mount beneath it entered. What single files refuse is counted and does not keep the others.
   * Cut off anywhere, it may be begun again. There is no deadline but for one entry: it goes on as long as it gets further.
   * An entry that is removed meanwhile is none; a directory that cannot be read ends it.
   * Fails with TargetChanged if it is not at its path any more.
   * @param onProgress told how many entries were come to, each second while there are more
   * @param unwanted when it is aborted, this ends as if it was cut off: SetUpFailed, uncertain. It may also go on to its end
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
