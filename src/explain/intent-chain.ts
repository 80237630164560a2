import { findCondition } from "../api/conditions.ts";
import { label } from "../api/names.ts";
import { isBlocked, isReason, isWaiting } from "../api/reasons.ts";
import type { NodeVolumeIntent, NodeVolumeIntentStatus } from "../api/types.gen.ts";
import { attachmentFindings, attachmentNamed } from "./attachment.ts";
import { type Facts, named } from "./facts.ts";
import type { Finding } from "./finding.ts";
import { nextStep, resumeStep } from "./next-steps.ts";
import { nodeFindings } from "./node-finding.ts";
import { repeatedDrift } from "./repeated-drift.ts";
import { type StepNames, stepNamesOf } from "./step-names.ts";

/**
 * PURE. Why a volume on a node is not as it should be, from what people see to its cause: the state, the agent's
 * silence, drift, what is waited for, and who has that.
 */
export function intentFindings(facts: Facts, intent: NodeVolumeIntent): Finding[] {
  const { metadata, spec, status = {} } = intent;
  const waiting = status.waiting;
  const names = stepNamesOf(intent);
  const because = (reason: string, text: string, since?: string) => reasonFinding(reason, text, { since, names });
  const causes: Finding[] = [];
  if (status.agentState?.state === "Lost" || status.observedGeneration === undefined) {
    const ofNode = nodeFindings(facts, spec.nodeName, { ours: true });
    causes.push(...ofNode);
    if (ofNode.length === 0 && status.observedGeneration === undefined)
      causes.push(because("NotObserved", "the node's agent has not read it yet", metadata.creationTimestamp));
  }
  if (status.drift !== undefined && !isToldByWait(status.drift, waiting))
    causes.push(driftFinding(status.drift, isHeldBack(intent)));
  if (waiting !== undefined)
    causes.push({
      ...because(waiting.reason, waiting.message, waiting.since),
      ...(waiting.attempts !== undefined && { attempts: waiting.attempts }),
      ...(waiting.nextRetryTime !== undefined && { nextRetryTime: waiting.nextRetryTime }),
      ...(waiting.on !== undefined && { on: waiting.on }),
    });
  const attach = status.attach;
  if (attach?.reason !== undefined && attach.reason !== waiting?.reason)
    causes.push({
      ...because(attach.reason, attach.message ?? attach.reason, attach.since),
      ...(attach.on !== undefined && { on: attach.on }),
    });
  if (status.expansion !== undefined) causes.push(because(status.expansion.reason, status.expansion.message));
  for (const { name, path, state, reason, message } of status.mounts ?? [])
    if (state !== "Mounted" && reason !== undefined && reason !== waiting?.reason)
      causes.push(
        reasonFinding(reason, `mount ${name} on ${path}: ${message ?? state}`, {
          names: { ...names, path, pid: undefined },
        }),
      );
  const suspended = spec.suspend ? [suspendedFinding(facts, intent)] : [];
  if (causes.length + suspended.length === 0) causes.push(...fromReady(intent));
  causes.push(...suspended);
  return [stateFinding(intent), ...causes, ...holders(facts, intent), ...repeatedDrift(facts, intent)];
}

/** Where it is in its life. */
function stateFinding({ metadata, spec, status = {} }: NodeVolumeIntent): Finding {
  const ready = findCondition(status.conditions, "Ready");
  const state = status.state ?? "Unknown";
  const counts = mountCounts(status);
  const mounts = counts === undefined ? "" : `, ${counts} mounts`;
  const inUse = status.inUse === false ? "not in use" : status.inUse === true ? "in use" : "perhaps in use";
  const deleting = metadata.deletionTimestamp === undefined ? "" : "; it is being released";
  const watched = spec.mode === "Observe" ? ", only observed" : "";
  const text = `${spec.volumeName} on ${spec.nodeName} is ${state}${mounts}, ${inUse}${watched}${deleting}`;
  const since = status.history?.at(-1)?.time ?? metadata.deletionTimestamp;
  return {
    state: ready?.status === "True" ? "done" : ready?.status === "Unknown" ? "unknown" : "waiting",
    code: state,
    text,
    ...(since !== undefined && { since }),
  };
}

/** PURE. Mounts that are as wanted, and all that are wanted: "1/2". */
export function mountCounts({ readyMounts, desiredMounts }: NodeVolumeIntentStatus): string | undefined {
  return desiredMounts === undefined ? undefined : `${readyMounts ?? 0}/${desiredMounts}`;
}

/** What Ready says, where nothing else does. */
function fromReady(intent: NodeVolumeIntent): Finding[] {
  const ready = findCondition(intent.status?.conditions, "Ready");
  if (ready === undefined || ready.status === "True") return [];
  const of = { since: ready.lastTransitionTime, names: stepNamesOf(intent) };
  return [notDone(reasonFinding(ready.reason, ready.message || ready.reason, of))];
}

/** A reason that asks nothing of people, as Suspended and WouldChange, is no tick while the volume is not ready. */
function notDone(finding: Finding): Finding {
  return finding.state === "done" ? { ...finding, state: "waiting" } : finding;
}

type Drift = NonNullable<NodeVolumeIntentStatus["drift"]>;

/** Whether what the agent waits for says the same, or which mount is over or beneath ours. */
function isToldByWait(drift: Drift, waiting: NodeVolumeIntentStatus["waiting"]): boolean {
  return waiting !== undefined && (drift.class === "Stacked" || drift.message === waiting.message);
}

/** Whether a repair waits for more than its turn: the finding that names the cause has what to do. */
function isHeldBack({ spec, status }: NodeVolumeIntent): boolean {
  return spec.suspend || status?.waiting !== undefined;
}

function driftFinding({ message, since }: Drift, heldBack: boolean): Finding {
  const finding = reasonFinding("Drifted", `the mount table is not as it was left: ${message}`, { since });
  const { todo: _, ...withoutStep } = finding;
  return heldBack ? withoutStep : finding;
}

/** By the Node's label if the Node has it; where its labels are not known, nobody can say by what. */
function suspendedFinding(facts: Facts, intent: NodeVolumeIntent): Finding {
  const ready = findCondition(intent.status?.conditions, "Ready");
  const since = ready?.reason === "Suspended" ? ready.lastTransitionTime : undefined;
  const names = stepNamesOf(intent);
  const { labels } = named(facts.nodes, intent.spec.nodeName)?.metadata ?? {};
  const is = "set-up and repair are suspended";
  const because = (by: string) => notDone(reasonFinding("Suspended", `${is} by ${by}`, { since, names }));
  if (labels === undefined) return because("the set or the Node's label");
  if (labels[label.suspend] === undefined) return { ...because("the set"), todo: resumeStep("NodeVolumeSet", names) };
  return { ...because(`the label ${label.suspend} of the Node`), todo: resumeStep("Node", names) };
}

/** PURE. A reason of docs/reasons.md as a finding, with what to do about it. */
export function reasonFinding(
  reason: string,
  text: string,
  { since, names }: { readonly since?: string | undefined; readonly names?: StepNames } = {},
): Finding {
  const state = isBlocked(reason) ? "blocked" : isWaiting(reason) || !isReason(reason) ? "waiting" : "done";
  const todo = nextStep(reason, names);
  return { state, code: reason, text, ...(since !== undefined && { since }), ...(todo !== undefined && { todo }) };
}

/** Who has what is waited for. */
function holders(facts: Facts, { spec, status = {} }: NodeVolumeIntent): Finding[] {
  const on = status.waiting?.on ?? status.attach?.on;
  const attachment = status.attach?.volumeAttachment ?? (on?.kind === "VolumeAttachment" ? on.name : undefined);
  const found = attachment === undefined ? undefined : attachmentNamed(facts, attachment);
  const ofAttachment =
    found === undefined ? [] : attachmentFindings(facts, found).filter(({ state }) => state !== "done");
  const node = on?.kind === "Node" ? on.name : on?.node;
  if (node === undefined || node === spec.nodeName) return ofAttachment;
  const there = facts.intents.filter(
    (other) =>
      other.spec.nodeName === node && other.spec.volumeName === spec.volumeName && other.status?.inUse !== false,
  );
  return [
    ...ofAttachment,
    ...there.flatMap((other) => [stateFinding(other)]),
    ...nodeFindings(facts, node, { ours: there.length > 0 }),
  ];
}
