import type { NodeVolumeIntentStatus } from "../../api/types.gen.ts";

/** The fields of an intent's status that the agent writes; attach and agentState are the controller's. */
export type AgentStatus = Omit<NodeVolumeIntentStatus, "attach" | "agentState">;

/** Inputs of a status beside the plan. */
export interface StatusContext {
  readonly agent: { readonly bootID: string; readonly epoch: number };
  /** Wall time in milliseconds since the epoch. */
  readonly now: number;
}
