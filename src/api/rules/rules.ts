import { type Check, type Checks, notEmpty, unique } from "./rule.ts";
import { selectionRules } from "./selection-rules.ts";
import { setRules } from "./set-rules.ts";
import { sourceRules } from "./source-rules.ts";
import { volumeRules } from "./volume-rules.ts";

const parts: readonly Checks[] = [{ notEmpty, unique }, sourceRules, volumeRules, setRules, selectionRules];

/** Every check of a rule whose form does not say all of it, with the rule's id. */
export const ruleChecks: readonly (readonly [id: string, check: Check])[] = parts.flatMap((part) =>
  Object.entries(part),
);

/**
 * The check of the rule with this id.
 * @throws Error if there is none, or more than one: a mistake that the unit tests find
 */
export function checkOf(id: string | undefined): Check {
  const [found, ...more] = ruleChecks.filter(([own]) => own === id);
  if (found === undefined || more.length > 0) throw new Error(`not exactly one check of the rule ${id}`);
  return found[1];
}
