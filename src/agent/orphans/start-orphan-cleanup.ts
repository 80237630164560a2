import type { Registry } from "prom-client";
import type { CSIDrivers } from "../../csi/ports.ts";
import type { HostPorts } from "../../host/ports/host-ports.ts";
import type { KubeClient } from "../../kube/client/client.ts";
import type { System } from "../../ports.ts";
import type { Journal } from "../journal/journal.ts";
import type { PlanSettings } from "../model/plan-input.ts";
import type { Plan } from "../model/volume-plan.ts";
import type { NodeStateReporterDeps } from "../status/node-state-reporter.ts";
import { gatherReap } from "./gather-world.ts";
import { KubeletLife } from "./kubelet-life.ts";
import { LeftoverWatch } from "./leftover-watch.ts";
import { OrphanCleanup } from "./orphan-cleanup.ts";
import { orphanEvents, type ReapEvent } from "./orphan-events.ts";
import { reap } from "./reap-action.ts";

/** Dependencies of starting the clean-up of kubelet's leftovers. */
export interface OrphanCleanupParts {
  readonly system: System;
  readonly host: HostPorts;
  readonly client: Pick<KubeClient, "get" | "list">;
  readonly drivers: Pick<CSIDrivers, "driver">;
  readonly journal: Journal;
  readonly nodeName: string;
  readonly settings: PlanSettings;
  /** Milliseconds; 0: nothing is removed. */
  readonly graceMs: number;
  readonly registry: Registry;
  /** Of the node's NodeVolumeState. */
  event(event: ReapEvent): void;
}

/** What kubelet has left, with what is to become of it; nothing where it cannot be seen. */
export interface OrphansOfKubelet {
  /** Takes in each plan, at once. */
  note(plan: Plan): void;
  readonly leftovers: NonNullable<NodeStateReporterDeps["leftovers"]>;
  /** Waits until the removal that a look has begun has ended. */
  idle(): Promise<void>;
  stop(): Promise<void>;
}

/** The watch of what kubelet has left, and the clean-up of these orphans. */
export function orphansOfKubelet(parts: OrphanCleanupParts): OrphansOfKubelet {
  const { system, host, client, drivers, journal, nodeName, settings, graceMs, registry, event } = parts;
  const { kubeletDir, hostRoot } = settings;
  const { traces } = host;
  const left = new LeftoverWatch({ clock: system.clock, host, kubeletDir });
  if (kubeletDir === undefined || traces === undefined) {
    return { note() {}, leftovers: async () => ({ orphans: [] }), idle: async () => {}, stop: async () => {} };
  }
  const { clock } = system;
  const life = new KubeletLife({ clock, client, nodeName });
  let latest: Plan | undefined;
  const known = { client, drivers, nodeName, kubeletDir, graceMs, life, plan: () => latest };
  const orphanCleanup = new OrphanCleanup({
    system,
    journal,
    kubeletDir,
    graceMs,
    life,
    evidence: host.evidence,
    gather: (path) => gatherReap({ ...known, host: { ...tablesOf(host), traces } }, path),
    remove: (proved, onChild) => reap({ host, traces, drivers, hostRoot, onChild }, proved),
    told: orphanEvents({ registry, log: system.log, event }),
  });
  return {
    note(plan) {
      latest = plan.synced ? plan : undefined;
      left.note(plan);
    },
    async leftovers(plan) {
      const { orphans, againInMs } = await left.look(plan);
      const judged = orphanCleanup.judge(orphans);
      const waits = [againInMs, judged.againInMs].filter((ms) => ms !== undefined);
      return { orphans: judged.orphans, ...(waits.length > 0 && { againInMs: Math.min(...waits) }) };
    },
    idle: () => orphanCleanup.idle(),
    stop: () => orphanCleanup.stop(),
  };
}

function tablesOf({ mountTable, nodeTable }: HostPorts): Pick<HostPorts, "mountTable" | "nodeTable"> {
  return { mountTable, ...(nodeTable && { nodeTable }) };
}
