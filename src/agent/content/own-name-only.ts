import type { ApiRequest, ApiResponse, Transport } from "../../kube/client/transport.ts";

/**
 * A transport for requests in the agent's own name only: a request that impersonates the node is refused here and never
 * reaches the API server.
 */
export function inOwnNameOnly(transport: Transport): Transport {
  return {
    request: (request) =>
      request.asUser === undefined ? transport.request(request) : Promise.resolve(refused(request)),
    stream(request, handlers) {
      if (request.asUser === undefined) return transport.stream(request, handlers);
      let cancelled = false;
      // As of a server, no answer comes before this returns.
      void Promise.resolve().then(() => !cancelled && handlers.onEnd({ response: refused(request) }));
      return () => {
        cancelled = true;
      };
    },
  };
}

function refused({ asUser }: ApiRequest): ApiResponse {
  const message = `no request as ${asUser}: the feature ReadAsNode is off`;
  const body = { apiVersion: "v1", kind: "Status", status: "Failure", reason: "Forbidden", code: 403, message };
  return { status: 403, body };
}
