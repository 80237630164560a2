import type { DriftClass } from "../../api/status-values.ts";

export interface DriftFound {
  readonly class: DriftClass;
  readonly message: string;
}
