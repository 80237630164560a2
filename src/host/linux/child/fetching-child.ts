import { VolumeError } from "../../../errors.ts";
import type { OperationContext } from "../../ports/host-ports.ts";
import type { RequestOf } from "./child-protocol.ts";
import { askChild, errorOf } from "./child-reply.ts";
import { type ChildRunner, EndedBySignal } from "./child-runner.ts";

/** Stands before what a child says of how far it is. */
export const progressMark = "> ";

/** Nobody else ends one so that is wanted: at its deadline it is said to have timed out. */
function outOfMemory(error: unknown): unknown {
  if (!(error instanceof EndedBySignal) || error.signal !== "SIGKILL") return error;
  const message = `the kernel ended the process that fetches it: most likely memory ran out, and the kernel ends it before the agent. ${moreMemory}`;
  return new VolumeError("SetUpFailed", error.errorClass, message, { cause: error });
}

/** What people can do about it. */
export const moreMemory =
  "Raise the memory limit of the agent's container (or of the node), have fewer volumes fetched at once, or name something smaller";

/**
 * Runs long work that reports its progress in a disposable child process, which is abandoned when it makes no progress
 * for a deadline. When no intent needs the volume any more (OperationContext.unwanted), the child process and all that
 * it started are killed: uncertain.
 * @param server named if it is unreachable
 */
export async function inFetchingChild(
  runner: Pick<ChildRunner, "run">,
  operation: OperationContext,
  work: RequestOf<"checkOut" | "unpack">,
  server: string,
  onProgress: (message: string) => void,
): Promise<void> {
  const onLine = (line: string) => {
    if (line.startsWith(progressMark)) onProgress(line.slice(progressMark.length));
  };
  const { unwanted } = operation;
  const asked = { onLine, writesWhileWell: true, ...(unwanted && { unwanted }) };
  const reply = await askChild(runner, work, operation, asked).catch((error: unknown) => {
    throw unwanted?.aborted === true ? error : outOfMemory(error);
  });
  if (reply.ok) return;
  const { error } = reply;
  throw errorOf(error, error.reason === "ServerUnreachable" ? { kind: "Server", name: server } : error.on);
}
