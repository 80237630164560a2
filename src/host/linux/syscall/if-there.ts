import { errnoOf } from "./errno.ts";

/**
 * What a look at the system gives, or undefined if a system call failed: a process, thread, file or device may end
 * while it is looked at, a link of a FUSE file system may be for its owner only, and a list may not be there at all.
 * For what is told to people, and where one thing less is no evidence.
 */
export function ifThere<T>(look: () => T): T | undefined {
  try {
    return look();
  } catch (error) {
    if (errnoOf(error) === undefined) throw error;
    return undefined;
  }
}
