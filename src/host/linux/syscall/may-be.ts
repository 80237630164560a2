import { errnoOf } from "./errno.ts";

/** Whether something is so; what a system call could not tell counts as so. */
export function mayBe(ask: () => boolean): boolean {
  try {
    return ask();
  } catch (error) {
    if (errnoOf(error) === undefined) throw error;
    return true;
  }
}
