import { type handleUnaryCall, type ServerUnaryCall, status } from "@grpc/grpc-js";
import type { Clock, Logger } from "../../ports.ts";
import type { Code } from "../client/rpc.ts";
import type { CallLimits } from "./pod-calls.ts";
import { refusalOf } from "./refused-call.ts";

/** Told of each call's end. */
export type OnCall = (rpc: string, code: Code, ms: number) => void;

/** Dependencies of every gRPC method of the server. */
export interface UnaryDeps {
  readonly clock: Clock;
  readonly log: Logger;
  readonly onCall: OnCall;
}

/** One method of a gRPC service: what the handler throws is the call's status, and a caller that goes ends its wait. */
export function unary<Request extends object, Response>(
  rpc: string,
  deps: UnaryDeps,
  handler: (request: Request, limits: CallLimits) => Response | Promise<Response>,
): handleUnaryCall<Request, Response> {
  const { clock, log, onCall } = deps;
  return async (call, answer) => {
    const began = clock.monotonic();
    const cancelled = new AbortController();
    call.once("cancelled", () => cancelled.abort(new Error("the caller has gone")));
    try {
      const response = await handler(call.request, { deadline: deadlineOf(call), cancelled: cancelled.signal });
      onCall(rpc, "OK", clock.monotonic() - began);
      answer(null, response);
    } catch (thrown) {
      const { code, message } = refusalOf(thrown);
      if (code === "INTERNAL") log.error("a call could not be answered", { rpc, error: thrown });
      onCall(rpc, cancelled.signal.aborted ? "CANCELLED" : code, clock.monotonic() - began);
      answer({ code: status[code], details: message });
    }
  };
}

function deadlineOf<Request, Response>(call: ServerUnaryCall<Request, Response>): number {
  const deadline = call.getDeadline();
  return typeof deadline === "number" ? deadline : deadline.getTime();
}
