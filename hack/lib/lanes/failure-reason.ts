import { relative } from "node:path";
import { StepError } from "../process.ts";
import { root } from "../root.ts";

/**
 * What a test failed with: the message, where in the project that was, and, if a program failed, the end of its log.
 */
export function failureReason(error: Error): string {
  const place = placeIn(error.stack ?? "");
  const details = error instanceof StepError ? error.details : [];
  const [first = "", ...rest] = error.message.split("\n");
  return [place === undefined ? first : `${first} (${place})`, ...rest, ...details].join("\n");
}

/** The innermost line of a test that the stack names, or else of anything else of ours. */
function placeIn(stack: string): string | undefined {
  const ours = [...stack.matchAll(/(?:\(|at |async )(?:file:\/\/)?(\/[^()\s]+:\d+):\d+\)?$/gm)]
    .map(([, place = ""]) => relative(root, place))
    .filter((place) => !place.startsWith("..") && !place.startsWith("node_modules"));
  return ours.find((place) => /\.test\.ts:/.test(place)) ?? ours[0];
}
