import type { KnownMessage } from "./known-message.ts";
import { kubeletMessages } from "./kubelet-messages.ts";
import { schedulerMessages } from "./scheduler-messages.ts";

/** Those that are closer to a cause first. */
export const knownMessages: readonly KnownMessage[] = [...schedulerMessages, ...kubeletMessages];

/**
 * PURE. What the message of an Event of kubelet, or of the attach/detach controller, means; undefined: no more than the
 * Event's reason.
 */
export function meaningOf(message: string): KnownMessage | undefined {
  const line = message.replace(/\s+/g, " ");
  const fitting = knownMessages.filter(({ words }) => new RegExp(words.source, "i").test(line));
  return fitting.find(({ general }) => general !== true) ?? fitting.find(({ repeats }) => repeats !== true);
}
