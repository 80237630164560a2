import type { AgentsPolicyState } from "../../kube/policies/policy-watch.ts";
import type { NodeInfo } from "./projections.ts";

/** What is known of the node of an intent, beside the intent itself. */
export interface NodeFacts {
  /** undefined: there is no such Node. */
  readonly node: NodeInfo | undefined;
  /** Milliseconds for which we have seen both: no Node, and a Lease of the agent that has run out. 0 if not so now. */
  readonly lostForMs: number;
  /** Milliseconds since the Lease of the node's agent ran out; negative: until it does, if it is not renewed. */
  readonly silentForMs: number;
  /**
   * Milliseconds since the last renewal of that Lease that we saw come; undefined: none was seen. Time in which we saw
   * nothing counts.
   */
  readonly renewedForMs?: number | undefined;
  /**
   * How the policy stands that keeps agents from writing for each other's nodes: in force, and never seen otherwise, if
   * not given.
   */
  readonly agentsPolicy?: AgentsPolicyState;
  /**
   * Within how many milliseconds an agent that lives mends what others have written for it; as one that watches, if not
   * given.
   */
  readonly mendsInMs?: number;
}
