import type { Noise } from "../report/noise.ts";
import type { Row } from "../report/row.ts";

export interface Result {
  readonly noise: Noise;
  /** Scenarios that did not end as they should. */
  readonly failures: readonly string[];
  readonly rows: readonly Row[];
}
