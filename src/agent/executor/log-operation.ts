import type { Logger } from "../../ports.ts";
import type { Failure } from "../model/failure.ts";
import type { Operation } from "../model/operation.ts";

/** How an operation ended. */
export interface OperationResult {
  readonly failure: Failure | undefined;
  readonly durationMs: number;
}

/** Tells of an operation that ended. */
export function logOperation(log: Logger, operation: Operation, { failure, durationMs }: OperationResult): void {
  const path = "path" in operation ? { path: operation.path } : {};
  const meta = { intent: operation.volume, operation: operation.kind, ...path, durationMs: Math.round(durationMs) };
  if (failure === undefined) log.info("done", meta);
  else log.warn("failed", { ...meta, reason: failure.reason, attempts: failure.attempts, error: failure.message });
}
