import { remoteMountOn } from "../../mount-table/may-block.ts";
import type { MountTableSource, OperationContext } from "../../ports/host-ports.ts";
import type { Ownership, OwnershipRequest, OwnershipResult } from "../../ports/ownership.ts";
import { askChild, errorOf } from "../child/child-reply.ts";
import type { ChildRunner } from "../child/child-runner.ts";

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
    const work = { kind: "giveToGroup", request, agent: process.pid } as const;
    const reply = await askChild(this.#runner, work, this.#operation, options);
    if (reply.ok) return reply.value;
    throw errorOf(reply.error);
  }
}
