import type { OperationContext } from "../../ports/host-ports.ts";
import type { Images, UnpackRequest } from "../../ports/images.ts";
import type { ChildRunner } from "../child/child-runner.ts";
import { inFetchingChild } from "../child/fetching-child.ts";
import { parseReference } from "./reference.ts";

/** Images, fetched and unpacked in a disposable child. */
export class LinuxImages implements Images {
  readonly #runner: Pick<ChildRunner, "run">;
  readonly #operation: OperationContext;

  constructor(runner: Pick<ChildRunner, "run">, operation: OperationContext) {
    this.#runner = runner;
    this.#operation = operation;
  }

  unpack(request: UnpackRequest, onProgress: (message: string) => void): Promise<void> {
    const work = { kind: "unpack", request, agent: process.pid } as const;
    const { from } = request;
    const registry = "reference" in from ? parseReference(from.reference).registry : from.layout.path;
    return inFetchingChild(this.#runner, this.#operation, work, registry, onProgress);
  }
}
