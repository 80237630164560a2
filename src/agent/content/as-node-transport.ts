import type { Transport } from "../../kube/client/transport.ts";

/** Requests as the agent's own node, or as the agent itself: what the one may not, the other may be granted. */
export interface EitherTransport extends Transport {
  /** The other one from now on. */
  change(): void;
}

/**
 * Begins as the node: the API server lets it read what is of this node alone (KEP-5284, on by default since Kubernetes
 * 1.36), so that an agent needs no right to read that of others.
 */
export function asNodeOrAgent(transport: Transport, nodeName: string): EitherTransport {
  let asNode = true;
  const who = () => (asNode ? { asUser: `system:node:${nodeName}` } : {});
  return {
    request: (request) => transport.request({ ...request, ...who() }),
    stream: (request, handlers) => transport.stream({ ...request, ...who() }, handlers),
    change() {
      asNode = !asNode;
    },
  };
}
