import { cut } from "../../api/conditions.ts";
import { redact } from "../../api/values/redact.ts";
import { VolumeError } from "../../errors.ts";
import type { Outcome } from "./error-classes.ts";
import type { RPC } from "./rpc.ts";

/** Longest message in characters: a status contains others as well. */
const longestMessage = 1024;

/** How a call of a driver failed, before it becomes a VolumeError. */
export interface FailedCall {
  readonly driver: string;
  readonly rpc: RPC;
  readonly outcome: Exclude<Outcome, "done">;
  /** gRPC's name of the status, or what else went wrong. */
  readonly what: string;
  /** The driver's own words, if there are any. */
  readonly text: string;
  /** Texts that must not be in the message. */
  readonly secrets: readonly string[];
}

/**
 * PURE. What a user reads. It has no cause: the error that the gRPC library made has the driver's text as it came, with
 * whatever secret the driver has put there.
 */
export function driverError({ driver, rpc, outcome, what, text, secrets }: FailedCall): VolumeError {
  const said = redact(text, secrets).trim();
  const message = cut(`driver ${driver}: ${rpc}: ${what}${said === "" ? "" : `: ${said}`}`, longestMessage);
  return new VolumeError(outcome.reason, outcome.errorClass, message, { on: { kind: "CSIDriver", name: driver } });
}
