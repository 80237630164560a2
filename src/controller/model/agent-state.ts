/**
 * The liveness of a node's agent, by its Lease.
 * - live: a renewal was seen, and it is valid.
 * - lost: no renewal was seen for the whole duration of the Lease.
 * - unknown: the Lease has not been watched long enough.
 */
export type AgentLiveness = "live" | "lost" | "unknown";

/** The state of an agent for people: it is late before it is lost. */
export type AgentState = AgentLiveness | "late";
