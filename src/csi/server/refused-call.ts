import { cut } from "../../api/conditions.ts";
import { messageOf } from "../../errors.ts";
import type { Code } from "../client/rpc.ts";
import { PodVolumeError } from "./ports.ts";

/** A call that is answered with a status, in words for who made the pod: kubelet shows them in an event. */
export class RefusedCall extends Error {
  override readonly name = "RefusedCall";
  readonly code: Exclude<Code, "OK">;

  constructor(code: Exclude<Code, "OK">, message: string) {
    super(message);
    this.code = code;
  }
}

/** Bytes of what a status says. */
const longestText = 1024;

/**
 * PURE. What a call is answered that failed. kubelet takes CANCELLED, DEADLINE_EXCEEDED, UNAVAILABLE,
 * RESOURCE_EXHAUSTED and ABORTED for "it may have happened", and calls NodeUnpublishVolume when it gives up; all others
 * for "it did not" (behaviours 61, 112).
 */
export function refusalOf(thrown: unknown): RefusedCall {
  if (thrown instanceof RefusedCall) return new RefusedCall(thrown.code, shortened(thrown.message));
  if (thrown instanceof PodVolumeError) {
    const code = thrown.kind === "waiting" ? "ABORTED" : "FAILED_PRECONDITION";
    return new RefusedCall(code, shortened(`${thrown.reason}: ${thrown.message}`));
  }
  return new RefusedCall("INTERNAL", shortened(messageOf(thrown)));
}

/** On one line, and short enough in UTF-8. */
function shortened(text: string): string {
  for (let characters = longestText; ; characters -= Math.ceil(characters / 8)) {
    const line = cut(text, characters);
    if (Buffer.byteLength(line) <= longestText) return line;
  }
}
