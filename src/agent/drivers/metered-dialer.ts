import type { Answer, Connection, Dialer } from "../../csi/client/connection.ts";
import type { Clock } from "../../ports.ts";

/** Told of each call of the node service that has ended: socket, method, status code by name, and seconds. */
export type OnCall = (path: string, method: string, code: string, seconds: number) => void;

/** Connections that tell how long each call of a driver's node service took, and how it ended. */
export function meteredDialer(dialer: Dialer, clock: Clock, onCall: OnCall): Dialer {
  return {
    dial(path) {
      const connection = dialer.dial(path);
      const metered: Connection = {
        get generation() {
          return connection.generation;
        },
        ready: (withinMs) => connection.ready(withinMs),
        onReturn: (listener) => connection.onReturn(listener),
        close: () => connection.close(),
        async call(method, request, deadlineMs) {
          const from = clock.monotonic();
          const answer = await connection.call(method, request, deadlineMs);
          if (method.startsWith("/csi.v1.Node/")) {
            onCall(path, method, codeOf(answer), (clock.monotonic() - from) / 1000);
          }
          return answer;
        },
      };
      return metered;
    },
  };
}

function codeOf(answer: Answer): string {
  switch (answer.kind) {
    case "reply":
      return "OK";
    case "unsent":
      return "UNAVAILABLE";
    case "status":
      return answer.code ?? "UNKNOWN";
  }
}
