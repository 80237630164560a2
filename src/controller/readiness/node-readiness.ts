import { cut, findCondition } from "../../api/conditions.ts";
import type { Reason } from "../../api/reasons.ts";
import type { SetOnNode } from "../model/node-input.ts";
import type { Intent, ShownReadiness } from "../model/projections.ts";
import { type IntentName, intentNameOf } from "../model/volume-identity.ts";
import { compareText } from "../util/canonical-json.ts";

/** What a Node shall show of the sets that select it with `nodeReadiness`. */
export interface NodeReadiness {
  /** undefined: no set asks for it. */
  readonly condition: ShownReadiness["condition"];
  /** `keep`: nobody can say, so a taint that is there stays, and none comes. */
  readonly taint: "on" | "off" | "keep";
}

/** How one set's volume stands on one node. */
interface Standing {
  readonly set: string;
  readonly taints: boolean;
  readonly status: "True" | "False" | "Unknown";
  readonly reason: string;
  readonly message: string;
}

/** As long as a condition's message may be in our own objects. */
const maxMessage = 1024;

/**
 * Whether the volumes that a node is to have are there (decision 0039). A set counts while it selects the node, is not
 * being deleted and has mounts: a set for pods alone has nothing to show before there is a pod. A spec that is not
 * understood asks for nothing. Pure.
 * @param setsOnNode of all sets on the node
 * @param intents of the node
 */
export function nodeReadiness(setsOnNode: Iterable<SetOnNode>, intents: readonly Intent[]): NodeReadiness {
  const byName = new Map(intents.map((intent) => [intentNameOf(intent), intent]));
  const standings = [...setsOnNode]
    .flatMap((onNode) => standingOf(onNode, byName) ?? [])
    .sort((a, b) => compareText(a.set, b.set));
  if (standings.length === 0) return { condition: undefined, taint: "off" };
  const tainting = standings.filter(({ taints }) => taints);
  const taint = tainting.some(({ status }) => status === "False")
    ? "on"
    : tainting.some(({ status }) => status === "Unknown")
      ? "keep"
      : "off";
  return { condition: conditionOf(standings), taint };
}

function conditionOf(standings: readonly Standing[]): NodeReadiness["condition"] {
  const bad = standings.filter(({ status }) => status === "False");
  const unknown = standings.filter(({ status }) => status === "Unknown");
  const [first] = bad.length > 0 ? bad : unknown;
  if (first === undefined) {
    const message = `mounted: ${standings.map(({ set }) => set).join(", ")}`;
    return { status: "True", reason: "AllReady" satisfies Reason, message: cut(message, maxMessage) };
  }
  const others = [...bad, ...unknown].filter((one) => one !== first).map(({ set }) => set);
  const more = others.length === 0 ? "" : `; not ready either: ${others.join(", ")}`;
  const why = first.message === "" ? "" : `: ${first.message}`;
  // Names first: a long cause must not hide whom else the node waits for.
  const message = `set ${first.set}${cut(why, maxMessage / 2)}${more}`;
  return { status: first.status, reason: cut(first.reason, 128), message: cut(message, maxMessage) };
}

function standingOf(onNode: SetOnNode, intents: ReadonlyMap<IntentName, Intent>): Standing | undefined {
  const policy = onNode.entry?.spec?.nodeReadiness ?? "Ignored";
  if (!onNode.selected || policy === "Ignored") return undefined;
  const standing = (status: Standing["status"], reason: string, message: string): Standing => ({
    set: onNode.set,
    taints: policy === "Taint",
    status,
    reason,
    message,
  });
  const own = onNode.found.flatMap(({ intentName }) => intents.get(intentName) ?? []);
  const silent = own.find(isSilent);
  if (silent !== undefined) {
    const ready = findCondition(silent.status.conditions, "Ready");
    return standing("Unknown", ready?.reason ?? ("AgentLost" satisfies Reason), ready?.message ?? "");
  }
  if (onNode.found.length > 0 && isThere(onNode, intents)) return standing("True", "AllReady" satisfies Reason, "");
  const { conflicts, obstacle, availability } = onNode;
  const [conflict] = conflicts;
  if (conflict !== undefined) {
    return standing("False", "Conflict" satisfies Reason, `it is in conflict with the set ${conflict.with}`);
  }
  if (obstacle !== undefined) return standing("False", obstacle.reason, obstacle.message);
  const { trouble } = availability;
  if (trouble !== undefined) return standing("False", trouble.reason, trouble.message);
  return standing("False", "NotObserved" satisfies Reason, "the intent is being written");
}

/** Nobody says how the volume is: no agent, or one that cannot read the mount table. */
function isSilent({ status }: Intent): boolean {
  const { reason } = findCondition(status.conditions, "Ready") ?? {};
  return status.agentState?.state === "Lost" || reason === ("MountTableUnreadable" satisfies Reason);
}

/**
 * Available; or a newer spec is on its way to the agent, and what the set has there now was mounted when it last spoke.
 * An update must not make a node that works not ready for a moment.
 */
function isThere(onNode: SetOnNode, intents: ReadonlyMap<IntentName, Intent>): boolean {
  if (onNode.availability.state === "available") return true;
  return onNode.found.every((share) => {
    const intent = intents.get(share.intentName);
    if (intent === undefined || intent.status.observedUID !== intent.metadata.uid) return false;
    if (intent.status.observedGeneration === intent.metadata.generation) return false;
    const wasReady = findCondition(intent.status.conditions, "Ready")?.status === "True";
    const isMounted = ({ name, path }: { readonly name: string; readonly path: string }) =>
      intent.status.mounts?.some((m) => m.name === name && m.path === path && m.state === "Mounted") === true;
    return wasReady && share.mounts.every(isMounted);
  });
}

/** What must be written to a Node so that it shows what it shall. */
export interface ReadinessChange {
  readonly taint?: "add" | "remove";
  readonly condition?: "set" | "remove";
  /** The condition says the same in other words: not worth a write at once. */
  readonly onlyMessage: boolean;
}

/** undefined: nothing. Pure. */
export function readinessChange(shown: ShownReadiness, wanted: NodeReadiness): ReadinessChange | undefined {
  const taint =
    wanted.taint === "on" && !shown.tainted ? "add" : wanted.taint === "off" && shown.tainted ? "remove" : undefined;
  const before = shown.condition;
  const after = wanted.condition;
  const differs =
    before?.status !== after?.status || before?.reason !== after?.reason || before?.message !== after?.message;
  const condition = !differs ? undefined : after === undefined ? ("remove" as const) : ("set" as const);
  if (taint === undefined && condition === undefined) return undefined;
  const onlyMessage = taint === undefined && before?.status === after?.status && before?.reason === after?.reason;
  return { ...(taint && { taint }), ...(condition && { condition }), onlyMessage };
}
