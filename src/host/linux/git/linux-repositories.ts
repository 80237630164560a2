import type { OperationContext } from "../../ports/host-ports.ts";
import type { CheckOutRequest, Repositories } from "../../ports/repositories.ts";
import type { ChildRunner } from "../child/child-runner.ts";
import { inFetchingChild } from "../child/fetching-child.ts";

/** git in a disposable child. */
export class LinuxRepositories implements Repositories {
  readonly #runner: Pick<ChildRunner, "run">;
  readonly #operation: OperationContext;

  constructor(runner: Pick<ChildRunner, "run">, operation: OperationContext) {
    this.#runner = runner;
    this.#operation = operation;
  }

  checkOut(request: CheckOutRequest, onProgress: (message: string) => void): Promise<void> {
    const work = { kind: "checkOut", request, agent: process.pid } as const;
    const server = URL.parse(request.repository)?.host ?? request.repository;
    return inFetchingChild(this.#runner, this.#operation, work, server, onProgress);
  }
}
