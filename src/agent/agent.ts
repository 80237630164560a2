import type { Registry } from "prom-client";
import type { CSIDrivers } from "../csi/ports.ts";
import type { PodVolumes } from "../csi/server/ports.ts";
import type { HostPorts } from "../host/ports/host-ports.ts";
import type { Transport } from "../kube/client/transport.ts";
import type { AcceptedPolicies } from "../kube/policies/policies.ts";
import type { System } from "../ports.ts";
import type { IntentsBy } from "./desired/intent-source.ts";
import type { HealthChecks } from "./health/health-checks.ts";
import type { PlanSettings } from "./model/plan-input.ts";
import type { Plan } from "./model/volume-plan.ts";

/**
 * Dependencies of the agent of one node. All effects go through these ports, so that tests and the simulator start the
 * same agent on fakes.
 */
export interface AgentDeps {
  readonly system: System;
  readonly transport: Transport;
  readonly host: HostPorts;
  readonly drivers: CSIDrivers;
  readonly nodeName: string;
  readonly version: string;
  readonly settings: PlanSettings;
  /** Watch if not given. */
  readonly intents?: IntentsBy;
  /** Milliseconds for which an orphan of kubelet is shown before it is removed; 0, or absent: none is. */
  readonly reapGraceMs?: number;
  readonly registry: Registry;
  /** Whether the agent checks that its admission policies are in force, and reports it if they are not. */
  readonly watchPolicy?: boolean;
  /** None if not given. */
  readonly acceptedPolicies?: AcceptedPolicies;
  /** Receives the agent's own health. */
  readonly healthChecks?: HealthChecks;
  /** Ends the wait for what the agent cannot be without. */
  readonly signal?: AbortSignal;
  /** Milliseconds after which a child process is killed; for tests. */
  readonly deadlineMs?: number;
  /** Called with each plan, after all other listeners. */
  onPlan?(plan: Plan): void;
}

/** A running agent: the handle that the process's role, the health server and the CSI server for kubelet use. */
export interface Agent {
  /** Whether intents and mount table were read completely since start. */
  ready(): boolean;
  /** Volumes for the pods of the node. */
  readonly podVolumes: PodVolumes;
  /** Ends the watches and starts nothing more. Every mount stays. */
  stop(): Promise<void>;
}
