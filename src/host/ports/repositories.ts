/** What lets the node in at a server. Secret: it is handed on by memory, and is in no message. */
export interface RepositoryAccess {
  /** Value of the HTTP header. */
  readonly authorization?: string;
  /** Certificates by which the server is known beside those that are known anyway, as PEM. */
  readonly authorities?: string;
  readonly ssh?: {
    /** As ssh-keygen(1) writes it, without a passphrase. */
    readonly key: string;
    /** Keys of servers, as ssh-keyscan(1) prints them. */
    readonly knownHosts: string;
  };
}

/** A commit of a git repository, and where its files go. */
export interface CheckOutRequest {
  /** Data directory of ours, which is there: the files go to `tree` in it. */
  readonly directory: string;
  /** http, https or ssh, without credentials in it. */
  readonly repository: string;
  readonly access?: RepositoryAccess;
  /** Full id of a commit: it says what comes, whoever sends it. */
  readonly revision: string;
  /** Of the commit's tree; "" for all of it. */
  readonly subdirectory: string;
  /** Most bytes that are fetched, and most that all files have. */
  readonly sizeLimit: number;
}

/**
 * Trees of git repositories. What comes from a server is hostile: git itself runs as a user of its own that sees and
 * writes nothing but one directory, runs no hook, filter or program of anybody, and follows no submodule
 * (docs/security.md).
 */
export interface Repositories {
  /**
   * Makes `tree` in the directory show the commit, atomically and durably. It always runs in a child process of its
   * own. `repository` is left next to it, and `new` after a failure, for the caller to remove: none of the three may
   * exist before. Fails with ToolMissing, ServerUnreachable, RepositoryRefused, RevisionNotFound, ContentRefused,
   * ContentTooLarge, TimedOut.
   * @param onProgress called with git's progress messages
   */
  checkOut(request: CheckOutRequest, onProgress: (message: string) => void): Promise<void>;
}
