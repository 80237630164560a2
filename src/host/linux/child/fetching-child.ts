import { VolumeError } from "../../../errors.ts";
import type { OperationContext } from "../../ports/host-ports.ts";
import type { ChildReply, ChildRequest } from "./child-protocol.ts";
import type { ChildRunner } from "./child-runner.ts";
import { programWords } from "./program-words.ts";

/** Stands before what a child says of how far it is. */
export const progressMark = "> ";

/** Nobody else ends one so that is wanted: at its deadline it is said to have timed out. */
function outOfMemory(error: unknown): unknown {
  if (!(error instanceof VolumeError) || !error.message.includes("ended by SIGKILL")) return error;
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
  work: ChildRequest,
  server: string,
  onProgress: (message: string) => void,
): Promise<void> {
  const onLine = (line: string) => {
    if (line.startsWith(progressMark)) onProgress(line.slice(progressMark.length));
  };
  const { unwanted } = operation;
  const asked = { onLine, writesWhileWell: true, ...(unwanted && { unwanted }) };
  const result = await runner.run(work, operation, asked).catch((error: unknown) => {
    throw unwanted?.aborted === true ? error : outOfMemory(error);
  });
  const said = result.stdout.slice(result.stdout.lastIndexOf("\n") + 1);
  if (result.code !== 0 || said === "") {
    const message = `a child process ended with ${result.code}: ${programWords(result.stderr)}`;
    throw new VolumeError("SetUpFailed", "uncertain", message);
  }
  const reply = JSON.parse(said) as ChildReply;
  if (reply.ok) return;
  const { reason = "SetUpFailed", errorClass = "transient", message, on } = reply.error;
  const options = reason === "ServerUnreachable" ? { on: { kind: "Server", name: server } } : on && { on };
  throw new VolumeError(reason, errorClass, message, options);
}
