import { VolumeError } from "../../errors.ts";
import type { OperationContext } from "../ports.ts";
import type { ChildReply } from "./child-main.ts";
import type { ChildRequest, ChildRunner } from "./child-runner.ts";

/** Stands before what a child says of how far it is. */
export const progressMark = "> ";

/**
 * Runs work that takes long and says how far it is in a disposable child, which is given up when it gets no further for a deadline.
 * When nobody wants the volume any more (OperationContext.unwanted) the child is killed, and what it started with it: uncertain.
 * @param server named where it cannot be reached
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
  const result = await runner.run(work, operation, { onLine, writesWhileWell: true, ...(unwanted && { unwanted }) });
  const said = result.stdout.slice(result.stdout.lastIndexOf("\n") + 1);
  if (result.code !== 0 || said === "") {
    const message = `a child process ended with ${result.code}: ${result.stderr.trim().slice(-512)}`;
    throw new VolumeError("SetUpFailed", "uncertain", message);
  }
  const reply = JSON.parse(said) as ChildReply;
  if (reply.ok) return;
  const { reason = "SetUpFailed", errorClass = "transient", message } = reply.error;
  const options = reason === "ServerUnreachable" ? { on: { kind: "Server", name: server } } : {};
  throw new VolumeError(reason, errorClass, message, options);
}
