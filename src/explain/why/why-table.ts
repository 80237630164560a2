import { type ReasonInfo, reasons } from "../../api/reasons.ts";
import { nextStep, withNames } from "../next-steps.ts";
import type { KnownMessage } from "./known-message.ts";
import { knownMessages } from "./known-messages.ts";
import { reasonTexts } from "./reason-texts.gen.ts";

/** What "Why is it stuck?" knows, as JSON for a browser. */
export interface WhyTable {
  readonly reasons: readonly WhyReason[];
  /** Those that are closer to a cause first. */
  readonly messages: readonly WhyMessage[];
}

/** An entry of docs/reasons.md. */
export interface WhyReason {
  readonly code: string;
  readonly kind: ReasonInfo["kind"];
  /** Plain text, with code in backticks. */
  readonly text: string;
  /** Names in capitals stand for others; "" if nothing has to be done. */
  readonly step: string;
}

/** A known message of kubelet or the scheduler, as plain data. */
export type WhyMessage = Omit<KnownMessage, "words" | "source" | "code" | "repeats"> & {
  /** Source of a RegExp, to be used without regard to case. */
  readonly words: string;
};

/** PURE. Every reason and every known message, with names in capitals: nobody knows here which are meant. */
export function whyTable(): WhyTable {
  return {
    reasons: Object.entries<ReasonInfo>(reasons).map(([code, { kind }]) => ({
      ...{ code, kind, text: reasonTexts[code] ?? "", step: nextStep(code) ?? "" },
    })),
    messages: knownMessages.map(({ words, check, step, source: _, code: __, repeats: ___, ...shown }) => ({
      ...shown,
      ...{ check: withNames(check), step: withNames(step) },
      words: words.source,
    })),
  };
}
