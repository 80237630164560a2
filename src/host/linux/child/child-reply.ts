import { VolumeError, type WaitingOn } from "../../../errors.ts";
import type { OperationContext } from "../../ports/host-ports.ts";
import { type ChildCalls, type ChildError, type ChildReply, type RequestOf, refusedCode } from "./child-protocol.ts";
import type { ChildOptions, ChildResult, ChildRunner } from "./child-runner.ts";
import { outputExcerpt } from "./output-excerpt.ts";

/**
 * Has a disposable child process carry a request out. The reply of one that broke is an uncertain error without a
 * reason. Rejects as ChildRunner.run does.
 */
export async function askChild<K extends keyof ChildCalls>(
  runner: Pick<ChildRunner, "run">,
  request: RequestOf<keyof ChildCalls> & { readonly kind: K },
  operation: OperationContext,
  options?: ChildOptions,
): Promise<ChildReply<K>> {
  const result = await runner.run(request, operation, options);
  const message = `a child process ended with ${result.code}: ${outputExcerpt(result.stderr)}`;
  return (
    (replyIn(result.stdout) as ChildReply<K> | undefined) ?? { ok: false, error: { message, errorClass: "uncertain" } }
  );
}

/**
 * Has a disposable child process become a program, and resolves with how that ended. Rejects as ChildRunner.run does.
 * @throws VolumeError if the child did not become it: of `on`, if that is known better than the child knows it.
 *   EndedBySignal, uncertain, if the kernel did not start it
 */
export async function runProgram(
  runner: Pick<ChildRunner, "run">,
  request: RequestOf<"exec" | "format" | "check">,
  operation: OperationContext,
  { on, ...options }: ChildOptions & { readonly on?: WaitingOn | undefined } = {},
): Promise<ChildResult> {
  const result = await runner.run(request, operation, options);
  const refusal = refusalOf(result, on);
  if (refusal !== undefined) throw refusal;
  return result;
}

/** PURE. The reply at the end of what a child has written; undefined if none stands there. */
export function replyIn(stdout: string): ChildReply | undefined {
  const [last = ""] = stdout.trimEnd().split("\n").slice(-1);
  try {
    return last.startsWith('{"ok":') ? (JSON.parse(last) as ChildReply) : undefined;
  } catch {
    return undefined;
  }
}

/** PURE. Whether the child knew what failed: it neither broke, nor met the error of a system call alone. */
export const isKnown = ({ reason }: ChildError): boolean => reason !== undefined;

/** PURE. Whether the child broke: what it was asked for may have been done. */
export const broke = ({ reason, errorClass }: ChildError): boolean =>
  reason === undefined && errorClass === "uncertain";

/** PURE. Why a child did not become a program; undefined if it became it. */
export function refusalOf({ code, stdout }: ChildResult, on?: WaitingOn): VolumeError | undefined {
  const reply = code === refusedCode ? replyIn(stdout) : undefined;
  return reply === undefined || reply.ok ? undefined : errorOf(reply.error, on);
}

/** The error of a reply. @param on what is waited for, if that is known better than the child knows it */
export function errorOf(error: ChildError, on: WaitingOn | undefined = error.on): VolumeError {
  const { reason = "SetUpFailed", errorClass = "transient", message, heldBy = [] } = error;
  return new VolumeError(reason, errorClass, message, { ...(on && { on }), heldBy });
}
