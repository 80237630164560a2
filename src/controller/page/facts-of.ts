import type { NodeVolumeIntent, NodeVolumeState } from "../../api/types.gen.ts";
import type { AgentSeen, Facts } from "../../explain/facts.ts";
import type { NodeInfo } from "../model/projections.ts";

/** Inputs of the page's explanation of a volume. */
export interface FactsInput {
  /** Milliseconds since the epoch. */
  readonly now: number;
  readonly nodes: readonly NodeInfo[];
  readonly agents: readonly AgentSeen[];
  readonly intents: readonly NodeVolumeIntent[];
  readonly states: readonly NodeVolumeState[];
}

const notKept = "the page does not look at them";

/**
 * PURE. What the controller keeps, as the facts that a chain of causes rests on. Of pods, claims and attachments the
 * chain of a volume needs nothing that its intent does not say.
 */
export function factsOf({ now, nodes, agents, intents, states }: FactsInput): Facts {
  const none = { pods: [], claims: [], persistentVolumes: [], volumeAttachments: [], csiDrivers: [], csiNodes: [] };
  const others = { storageClasses: [], namespaces: [], events: [], sets: [] };
  const denied = Object.fromEntries([...Object.keys(none), ...Object.keys(others)].map((list) => [list, notKept]));
  return {
    ...{ now, agents, intents, states, denied, ...none, ...others },
    nodes: nodes.map(({ metadata: { name }, ready }) => ({
      metadata: { name },
      status: { conditions: [{ type: "Ready", status: ready ? "True" : "False" }] },
    })),
    // Asked for by chains of kubelet's volumes alone.
    sha256: () => "",
  };
}
