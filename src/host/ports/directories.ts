/** Proof of which directory a record speaks of: a path may come to mean another. */
export interface DirectoryID {
  readonly device: number;
  readonly inode: number;
}

/** A file of an atomic payload. */
export interface PayloadFile {
  /** Relative path, clean, without segments that start with `..`. */
  readonly path: string;
  readonly content: Uint8Array;
  readonly mode: number;
}

/** Directories of our own beneath the state directory. Paths are absolute. */
export interface Directories {
  /** Makes a directory, and its parents (0700), with this mode whatever the umask. What is there already stays. */
  make(path: string, mode: number): Promise<DirectoryID>;
  /**
   * Keeps all that is in a directory, which is empty or limited already, below so many bytes, until it is discarded.
   * Again with the same is no error. @throws VolumeError QuotaUnsupported
   */
  limit(path: string, bytes: bigint): Promise<void>;
  /** The directory at a path, not following a link there; undefined if there is none. */
  identify(path: string): Promise<DirectoryID | undefined>;
  /**
   * Makes `directory` show exactly `files`, all at once for a reader: the atomic writer (kubelet behaviour 121).
   * Equal content is not written again. With `fsGroup` everything belongs to that group, which may read it, from the
   * first moment that it is shown (behaviour 75); the directories pass the group on. @returns whether anything was
   * written
   */
  writePayload(directory: string, files: readonly PayloadFile[], fsGroup?: number): Promise<boolean>;
  /**
   * Truncates a file of ours that is larger than a limit; processes that append to it continue. A missing file is no
   * error.
   */
  emptyIfLarger(path: string, bytes: number): Promise<void>;
  /** Removes the directory if it is empty; what is not there is no error. */
  remove(path: string): Promise<void>;
  /**
   * Moves the directory, if it is still the one that `id` says, into the trash. Gone or another one: nothing is done.
   */
  discard(path: string, id: DirectoryID): Promise<void>;
  /**
   * Empties the trash, staying beneath it, following no link and crossing into no other file system. What cannot be
   * removed does not keep the rest; rejects at the end, naming some of it.
   */
  emptyTrash(): Promise<void>;
}
