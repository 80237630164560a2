import type { OperationContext } from "../../ports/host-ports.ts";
import type { Images } from "../../ports/images.ts";
import type { ChildRunner } from "../child/child-runner.ts";
import { inFetchingChild } from "../child/fetching-child.ts";
import { parseReference } from "./reference.ts";

/** Images, fetched and unpacked in a disposable child. */
export function linuxImages(runner: Pick<ChildRunner, "run">, operation: OperationContext): Images {
  return {
    unpack(request, onProgress) {
      const work = { kind: "unpack", request, agent: process.pid } as const;
      const { from } = request;
      const registry = "reference" in from ? parseReference(from.reference).registry : from.layout.path;
      return inFetchingChild(runner, operation, work, registry, onProgress);
    },
  };
}
