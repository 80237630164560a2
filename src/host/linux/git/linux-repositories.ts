import type { OperationContext } from "../../ports/host-ports.ts";
import type { Repositories } from "../../ports/repositories.ts";
import type { ChildRunner } from "../child/child-runner.ts";
import { inFetchingChild } from "../child/fetching-child.ts";

/** git in a disposable child. */
export function linuxRepositories(runner: Pick<ChildRunner, "run">, operation: OperationContext): Repositories {
  return {
    checkOut(request, onProgress) {
      const work = { kind: "checkOut", request, agent: process.pid } as const;
      const server = URL.parse(request.repository)?.host ?? request.repository;
      return inFetchingChild(runner, operation, work, server, onProgress);
    },
  };
}
