import { PodVolumeError, type PodVolumes } from "../../csi/server/ports.ts";
import type { MountTable } from "../../host/mount-table/mount-table.ts";
import type { HostPorts } from "../../host/ports/host-ports.ts";
import type { TargetPath } from "../../host/ports/types.ts";
import type { ObjectStore } from "../../kube/watch/object-store.ts";
import type { System } from "../../ports.ts";
import type { DesiredStateOfWorld } from "../desired/desired-state-of-world.ts";
import type { IntentEntry } from "../desired/intents.ts";
import type { PendingOperations } from "../executor/pending-operations.ts";
import type { Journal } from "../journal/journal.ts";
import { asMountPath, type MountPath } from "../model/identities.ts";
import type { PlanSettings } from "../model/plan-input.ts";
import type { PlanListener } from "../model/volume-plan.ts";
import { GonePods } from "./gone-pods.ts";
import type { KeptTokens } from "./kept-tokens.ts";
import { listedInTime } from "./listed-in-time.ts";
import { lostMount } from "./lost-mount.ts";
import type { OpenPods } from "./open-pods.ts";
import { AgentPodVolumes } from "./pod-volumes.ts";

/** Milliseconds after which a child that removes a mount point is given up. */
const deadlineMs = 30_000;

/** Dependencies of the part of the agent that serves pods. */
export interface PodsDeps {
  readonly system: System;
  readonly host: HostPorts;
  readonly journal: Journal;
  readonly settings: PlanSettings;
  readonly open: OpenPods;
  readonly tokens: KeptTokens;
  readonly world: DesiredStateOfWorld;
  readonly store: ObjectStore<IntentEntry>;
  readonly operations: Pick<PendingOperations, "isBusy" | "runs">;
}

/** The part of the agent that serves pods, as the loop and the CSI server use it. */
export interface Pods extends PlanListener {
  readonly volumes: PodVolumes;
  /** The mount table was read, and a plan is to be made. */
  looked(table: MountTable | undefined): void;

  stop(): void;
}

/** What the agent does for pods: the parts, put together. */
export function podsOf(deps: PodsDeps): Pods {
  const { system, host, journal, settings, open, tokens, world, store, operations } = deps;
  const { kubeletDir } = settings;
  if (kubeletDir === undefined) return noPods;
  const mounter = () => host.effects({ deadlineMs, formatDeadlineMs: deadlineMs, onChild: async () => {} }).mounter;
  const volumes = new AgentPodVolumes({
    kubeletDir,
    open,
    tokens,
    world,
    journal,
    intent: (name) => store.get(name),
    // A record that is written anew as a whole may name the target.
    isBusy: (path) =>
      operations.isBusy(path) || [...world.ofPod(path)].some((name) => operations.runs(name) === "recover"),
    table: () => host.mountTable.read(),
    async unmountLost(path) {
      if (!journal.mayHaveLost) return; // what a whole journal has no record of is not ours
      const table = await host.mountTable.read();
      const mount = lostMount(path, { table, settings, records: journal.records.values() });
      if (mount === undefined) return;
      system.log.info("a pod's mount without a record is unmounted, because kubelet has unpublished it", { path });
      await mounter().unmount(pointOf(path), mount.id, "Normal", mount.uniqueID);
    },
    async removePoint(path) {
      const target = pointOf(path);
      const there = await mounter().inspectTarget(target);
      if (there !== undefined) await mounter().removeTarget(target, there.kind === "directory" ? "directory" : "file");
    },
  });
  const gone = new GonePods({ system, host, kubeletDir, onGone: (path) => volumes.podGone(path) });
  const isNamed = (name: string) => {
    const intent = store.get(name);
    return intent !== undefined && intent.metadata.deletionTimestamp === undefined;
  };
  return {
    volumes: listedInTime(volumes, {
      timers: system.timers,
      isListed: (path) => [...world.ofPod(asMountPath(path))].some(isNamed),
      isHad: (path) => volumes.established.has(asMountPath(path)),
    }),
    looked(table) {
      if (journal.mayHaveLost && table !== undefined) volumes.found(table);
    },
    planned(plan) {
      volumes.told(plan);
      gone.follow(plan);
    },
    stop: () => gone.stop(),
  };
}

function pointOf(path: MountPath): TargetPath {
  return { prefix: path.slice(0, path.lastIndexOf("/")), path };
}

const refuse = async () => {
  throw new PodVolumeError("waiting", "JournalFailed", "the agent of this node has not begun, or ends");
};

/** No pod gets anything, and nothing is known to have one. */
export const noPods: Pods = {
  volumes: { publish: refuse, unpublish: refuse },
  looked() {},
  planned() {},
  stop() {},
};
