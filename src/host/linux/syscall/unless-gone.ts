import { errnoOf } from "./errno.ts";

/**
 * A process or device that ends while it is looked at: there is no such file or process any more, or the file has
 * nothing behind it.
 */
const gone: ReadonlySet<string | undefined> = new Set(["ENOENT", "ESRCH", "ENODEV", "ENXIO"]);

/** What a look at the system gives, or undefined if that is gone. For evidence: what cannot be read otherwise fails. */
export function unlessGone<T>(look: () => T): T | undefined {
  try {
    return look();
  } catch (error) {
    if (!gone.has(errnoOf(error))) throw error;
    return undefined;
  }
}
