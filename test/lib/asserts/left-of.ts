import { leftoversOf, type Traces } from "../../../hack/lib/lanes/leftovers.ts";

/**
 * What a run has left that a test has started, but for loop devices, which are the machine's: a lane beside ours has
 * some, and its processes cannot be seen from here. Whether a lane itself leaves any is looked at from outside, when it
 * has ended.
 */
export function leftOf({ id, before }: { readonly id: string; readonly before: Traces }): Promise<string[]> {
  return leftoversOf(id, before, undefined, (entry) => !entry.startsWith("loop device "));
}
