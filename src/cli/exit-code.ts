/**
 * How a command ends, for scripts. docs/kubectl-nvi.md has the same table.
 * - done: it was done, or the answer is yes.
 * - no: the answer is no: there are differences (diff), the node holds something (drained), time ran out (wait), there
 *   is a problem (check).
 * - usage: the command line is wrong; nothing was asked of the cluster.
 * - failed: the cluster could not be asked, refused, or has no such object; a file cannot be read or written.
 * - interrupted: ended by Ctrl-C.
 */
export const exitCode = { done: 0, no: 1, usage: 2, failed: 3, interrupted: 130 } as const;

/** The command line is wrong. The message says what would be right. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

/** A command cannot do what it was asked for, and says why in words for people. */
export class CommandError extends Error {
  override readonly name = "CommandError";
}
