import type { DriftClass } from "../../api/status-values.ts";

/**
 * A difference between a mount and its spec, or between a mount and its last known state, with a message for people.
 */
export interface DriftFound {
  readonly class: DriftClass;
  readonly message: string;
}
