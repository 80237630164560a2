import { VolumeError } from "../../../errors.ts";
import { remoteMountOn } from "../../mount-table/may-block.ts";
import type { MountTableSource, OperationContext } from "../../ports/host-ports.ts";
import type { Ownership, OwnershipRequest, OwnershipResult } from "../../ports/ownership.ts";
import type { ChildReply } from "../child/child-protocol.ts";
import type { ChildRunner } from "../child/child-runner.ts";
import { programWords } from "../child/program-words.ts";

/**
 * The walk through a volume's files in a disposable child, which is given up when it gets no further for a deadline.
 */
export class LinuxOwnership implements Ownership {
  readonly #table: MountTableSource;
  readonly #runner: ChildRunner;
  readonly #operation: OperationContext;

  constructor(table: MountTableSource, runner: ChildRunner, operation: OperationContext) {
    this.#table = table;
    this.#runner = runner;
    this.#operation = operation;
  }

  async give(
    request: OwnershipRequest,
    onProgress: (entries: number) => void,
    unwanted?: AbortSignal,
  ): Promise<OwnershipResult> {
    const waitsFor = remoteMountOn(await this.#table.read(), request.path);
    const onLine = (line: string) => {
      if (/^[0-9]+$/.test(line)) onProgress(Number(line));
    };
    const options = { onLine, writesWhileWell: true, ...(unwanted && { unwanted }), ...(waitsFor && { waitsFor }) };
    const result = await this.#runner.run(
      { kind: "giveToGroup", request, agent: process.pid },
      this.#operation,
      options,
    );
    const said = result.stdout.slice(result.stdout.lastIndexOf("\n") + 1);
    if (result.code !== 0 || said === "") {
      const message = `a child process ended with ${result.code}: ${programWords(result.stderr)}`;
      throw new VolumeError("SetUpFailed", "uncertain", message);
    }
    const reply = JSON.parse(said) as ChildReply;
    if (reply.ok) return reply.value as OwnershipResult;
    const { reason = "SetUpFailed", errorClass = "transient", message, on } = reply.error;
    throw new VolumeError(reason, errorClass, message, on && { on });
  }
}
