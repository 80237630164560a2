import { podRules } from "./pod-rules.ts";
import type { Check, Checks } from "./rule.ts";
import { selectionRules } from "./selection-rules.ts";
import { setRules } from "./set-rules.ts";
import { sourceRules } from "./source-rules.ts";
import { volumeRules } from "./volume-rules.ts";

/** Every check of a CRD rule, by the beginning of the rule's message. */
export const ruleChecks: Checks = [...sourceRules, ...volumeRules, ...setRules, ...selectionRules, ...podRules];

/**
 * The check of the rule with this message.
 * @throws Error if there is none, or more than one: a mistake that the unit tests find
 */
export function checkOf(message: string): Check {
  const [found, ...more] = ruleChecks.filter(([start]) => message.startsWith(start));
  if (found === undefined || more.length > 0) throw new Error(`not exactly one check of the rule: ${message}`);
  return found[1];
}
