import { resource } from "../../api/names.ts";
import type { NodeVolumeState } from "../../api/types.gen.ts";
import type { Transport } from "../../kube/client/transport.ts";
import { createReflector, type Reflector, type ReflectorDeps } from "../../kube/watch/reflector.ts";
import type { System } from "../../ports.ts";

/**
 * The node's own NodeVolumeState, whose status the agent writes and whose spec may be the index of its intents. A watch
 * by metadata.name costs the API server nothing for other nodes' objects: it keeps an index of that.
 */
export function watchOwnState(deps: {
  readonly system: System;
  readonly transport: Transport;
  readonly nodeName: string;
  readonly onRestart?: ReflectorDeps<NodeVolumeState>["onRestart"];
}): Reflector<NodeVolumeState> {
  const { system, transport, nodeName, onRestart } = deps;
  return createReflector<NodeVolumeState>({
    system,
    transport,
    ...(onRestart && { onRestart }),
    resource: resource.states,
    fieldSelector: `metadata.name=${nodeName}`,
    project: (raw) => raw as NodeVolumeState, // the API server's own object, which its schema has let in
  });
}
