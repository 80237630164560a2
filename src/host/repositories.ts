/** A commit of a git repository, and where its files go. */
export interface CheckOutRequest {
  /** Data directory of ours, which is there: the files go to `tree` in it. */
  readonly directory: string;
  /** http or https, without credentials. */
  readonly repository: string;
  /** Full id of a commit: it says what comes, whoever sends it. */
  readonly revision: string;
  /** Of the commit's tree; "" for all of it. */
  readonly subdirectory: string;
  /** Most bytes that are fetched, and most that all files have. */
  readonly sizeLimit: number;
}

/**
 * Trees of git repositories. What comes from a server is hostile: git itself runs as a user of its own that sees and writes
 * nothing but one directory, runs no hook, filter or program of anybody, and follows no submodule (docs/security.md).
 */
export interface Repositories {
  /**
   * Makes `tree` in the directory show the commit, all at once and durably. Always in a child of its own. `repository` is left beside
   * it, and `new` where it failed, for the caller to throw away: none of the three may be there before.
   * Fails with ToolMissing, ServerUnreachable, RepositoryRefused, RevisionNotFound, ContentRefused, ContentTooLarge, TimedOut.
   * @param onProgress told what git says of how far it is
   */
  checkOut(request: CheckOutRequest, onProgress: (message: string) => void): Promise<void>;
}
