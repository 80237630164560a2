/** What a KernelAgent and its process tell each other. */
import type { NodeVolumeIntent, NodeVolumeIntentStatus } from "../../../src/api/types.gen.ts";
import type { PodPublish, PodTarget, PodVolumeError } from "../../../src/csi/server/ports.ts";

/** What the agent's process is started with. */
export interface AgentOptions {
  readonly stateDir: string;
  readonly kubeletDir: string;
  readonly prefixes: readonly string[];
  readonly deadlineMs: number;
  readonly childCommand: readonly [string, ...string[]];
  readonly log: boolean;
  /** Whether it tells all that it writes to the API server: it costs. */
  readonly tellsAll: boolean;
  /** What the API server has when the agent starts. */
  readonly intents: readonly NodeVolumeIntent[];
}

export type Order =
  | { readonly write: NodeVolumeIntent }
  | { readonly revoke: string }
  | { readonly secret: SecretOrder }
  | { readonly metrics: true }
  | PodOrder;
export interface SecretOrder {
  readonly namespace: string;
  readonly name: string;
  readonly values: Readonly<Record<string, string>>;
}
/** What kubelet asks for a pod, with the number that the answer has. */
export type PodOrder = ({ readonly publish: PodPublish } | { readonly unpublish: PodTarget }) & {
  readonly call: number;
  readonly ms: number;
};
/** What stands in a PodVolumeError. */
export type PodFailure = Pick<PodVolumeError, "kind" | "reason" | "message">;
export type Word =
  | { readonly started: true }
  | { readonly name: string; readonly status: NodeVolumeIntentStatus }
  /** How often what is done to a volume has failed: not each time is in a status. */
  | { readonly name: string; readonly attempts: number }
  /** What it writes to the API server, or its metrics. */
  | { readonly output: "API" | "metrics"; readonly text: string }
  /** A line of its log that is an error. */
  | { readonly error: string }
  | { readonly call: number; readonly failed?: PodFailure };
