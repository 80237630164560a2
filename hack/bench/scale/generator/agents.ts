// A stand-in for all agents of the cluster: it mounts nothing, and says of each intent what an agent would.
import type { Condition, NodeVolumeIntent, NodeVolumeIntentStatus } from "../../../../src/api/types.gen.ts";
import type { Change } from "./watch-log.ts";

/** Milliseconds from an intent to its status: two mounts and their journal, and what comes meanwhile is one status. */
const mountMs = 50;

export interface Agents {
  /** How many intents each state was last said of. */
  readonly said: ReadonlyMap<string, number>;
  stop(): void;
}

export interface AgentsDeps {
  readonly follow: (tell: (change: Change) => void) => () => void;
  readonly get: (name: string) => string | undefined;
  readonly writeStatus: (name: string, status: object) => void;
  readonly bootID: string;
}

export function startStandInAgents({ follow, get, writeStatus, bootID }: AgentsDeps): Agents {
  const due = new Set<string>();
  const said = new Map<string, number>();
  let stopped = false;
  const speak = (name: string) => {
    due.delete(name);
    const text = stopped ? undefined : get(name);
    if (text === undefined) return;
    const status = statusOf(JSON.parse(text) as NodeVolumeIntent, bootID, now());
    if (status === undefined) return;
    said.set(status.state ?? "", (said.get(status.state ?? "") ?? 0) + 1);
    writeStatus(name, status);
  };
  const cancel = follow(({ type, text }) => {
    if (type === "DELETED") return;
    const intent = JSON.parse(text) as NodeVolumeIntent;
    const { name } = intent.metadata;
    if (due.has(name) || statusOf(intent, bootID, "") === undefined) return;
    due.add(name);
    setTimeout(speak, mountMs, name);
  });
  return {
    said,
    stop() {
      stopped = true;
      cancel();
    },
  };
}

/**
 * PURE. What an agent would say of the intent, two times in its life: that it is mounted (observed), that it is
 * released.
 * @returns undefined: nothing, as it has said so, or may not touch the volume yet
 */
export function statusOf(intent: NodeVolumeIntent, bootID: string, time: string): NodeVolumeIntentStatus | undefined {
  const { metadata, spec, status } = intent;
  const { uid = "", generation = 0 } = metadata;
  const granted = spec.mode === "Observe" || spec.grant !== undefined;
  if (!granted || (status?.observedUID === uid && status.observedGeneration === generation)) return undefined;
  const leaving = metadata.deletionTimestamp !== undefined;
  const state = leaving ? "Released" : spec.mode === "Observe" ? "Observed" : "Mounted";
  const targets = spec.mounts.length + (spec.pods ?? []).length;
  const condition = (type: string, is: boolean, reason: string): Condition => ({
    type,
    status: is ? "True" : "False",
    reason,
    message: "",
    observedGeneration: generation,
    lastTransitionTime: time,
  });
  return {
    observedUID: uid,
    observedGeneration: generation,
    ...(spec.grant && { grantID: spec.grant.id }),
    inUse: !leaving,
    state,
    ...(leaving ? { desiredMounts: 0, readyMounts: 0 } : { desiredMounts: targets, readyMounts: targets }),
    ...(!leaving && { stagingPath: `/var/lib/kubelet/plugins/nodevolume.dev/staging/${uid}` }),
    mounts: [],
    ...(spec.pods !== undefined && {
      pods: spec.pods.map(({ uid: pod, volume }) => ({ uid: pod, volume, state: "Mounted" as const, mountID: "4711" })),
    }),
    history: [...(status?.history ?? []), { time, state, reason: state }].slice(-10) as never,
    agent: { bootID, epoch: 1 },
    conditions: [
      condition("Ready", !leaving, state),
      condition("Mounted", !leaving, state),
      condition("Drifted", false, "InSync"),
    ],
  };
}

function now(): string {
  return `${new Date().toISOString().slice(0, 19)}Z`;
}
