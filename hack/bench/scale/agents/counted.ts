import type { Transport } from "../../../../src/kube/client/transport.ts";
import type { Tally } from "./tally.ts";

/** The transport, with the watches that are asked of it counted until they are answered, and what was refused. */
export function counted(transport: Transport, tally: Pick<Tally, "opening" | "failed">): Transport {
  return {
    request: (request) => transport.request(request),
    stream(request, handlers) {
      let waits = true;
      tally.opening(1);
      const answered = () => {
        if (waits) tally.opening(-1);
        waits = false;
      };
      const cancel = transport.stream(request, {
        onOpen() {
          answered();
          handlers.onOpen?.();
        },
        onObject: (object) => handlers.onObject(object),
        onEnd(end) {
          answered();
          if (end.response !== undefined) tally.failed(String(end.response.status));
          handlers.onEnd(end);
        },
      });
      return () => {
        answered();
        cancel();
      };
    },
  };
}
