import type { KubeObject } from "../api/meta.ts";
import type { Reason } from "../api/reasons.ts";
import type { NodeVolumeIntent, NodeVolumeSet, NodeVolumeState } from "../api/types.gen.ts";
import { arrayIn, type JsonObject, recordIn, stringIn } from "../kube/json.ts";
import type { LeaseState } from "../kube/leases/lease.ts";

/** A Kubernetes object as it came; what is read of it is looked up field by field. */
export type Raw = KubeObject & JsonObject;

/** An agent that has a Lease, by what whoever gathered the facts knows of it. */
export interface AgentSeen {
  readonly node: string;
  readonly lease: LeaseState;
  /** When it last renewed it, as it says itself; undefined: never. */
  readonly renewed: string | undefined;
}

/**
 * All that an explanation may rest on, read at one moment. Lists hold what was asked for, which may be less than there
 * is.
 */
export interface Facts {
  /** Milliseconds since the epoch. */
  readonly now: number;
  readonly pods: readonly Raw[];
  readonly claims: readonly Raw[];
  readonly persistentVolumes: readonly Raw[];
  readonly volumeAttachments: readonly Raw[];
  readonly csiDrivers: readonly Raw[];
  readonly csiNodes: readonly Raw[];
  readonly storageClasses: readonly Raw[];
  readonly namespaces: readonly Raw[];
  readonly nodes: readonly Raw[];
  readonly events: readonly Raw[];
  readonly agents: readonly AgentSeen[];
  readonly sets: readonly NodeVolumeSet[];
  readonly intents: readonly NodeVolumeIntent[];
  readonly states: readonly NodeVolumeState[];
  /** Kinds of which nothing is known, by the name of the list, and why. */
  readonly denied: { readonly [list in FactList]?: string };
  /** SHA-256 in hexadecimal: kubelet's staging path of a CSI volume has that of its handle (behaviour 100). */
  readonly sha256: (text: string) => string;
}

/** A kind of object that explanations read. */
export type FactList = Exclude<keyof Facts, "now" | "denied" | "sha256">;

/** PURE. The object of that name, in that namespace if it has one. */
export function named<T extends KubeObject>(list: readonly T[], name: string, namespace?: string): T | undefined {
  return list.find((o) => o.metadata.name === name && (namespace === undefined || o.metadata.namespace === namespace));
}

/** PURE. The condition of a type, of any object. */
export function conditionOf(object: unknown, type: string): JsonObject | undefined {
  const found = arrayIn(recordIn(object, "status"), "conditions").find((c) => stringIn(c, "type") === type);
  return found as JsonObject | undefined;
}

/** By how much the clock of a node may be ahead of ours, milliseconds. */
const clockAheadMs = 60_000;
const lostReasons: ReadonlySet<string> = new Set<Reason>(["AgentLost", "NodeLost"]);

/**
 * PURE. The agent of a node, by its Lease, which has expired where there is none; undefined: that is not known. Of a
 * Lease that names a time to come, as somebody with the agent's token may write it, the controller knows better: it
 * has watched the renewals by its own clock.
 */
export function agentOf(facts: Facts, node: string): AgentSeen | undefined {
  if (facts.denied.agents !== undefined) return undefined;
  const found = facts.agents.find((agent) => agent.node === node) ?? { node, lease: "expired", renewed: undefined };
  const isToCome = Date.parse(found.renewed ?? "") > facts.now + clockAheadMs;
  const said = conditionOf(named(facts.states, node), "Ready");
  const isLost = stringIn(said, "status") === "Unknown" && lostReasons.has(stringIn(said, "reason") ?? "");
  return isToCome && isLost ? { ...found, lease: "expired" } : found;
}

/** PURE. Events of an object, the newest first. */
export function eventsOf(facts: Facts, object: KubeObject): Raw[] {
  return facts.events
    .filter((event) => {
      const about = recordIn(event, "involvedObject");
      const uid = stringIn(about, "uid");
      if (uid !== undefined && object.metadata.uid !== undefined) return uid === object.metadata.uid;
      return (
        stringIn(about, "name") === object.metadata.name &&
        (stringIn(about, "namespace") ?? "") === (object.metadata.namespace ?? "")
      );
    })
    .sort((a, b) => (timeOf(a) < timeOf(b) ? 1 : -1));
}

/** PURE. When an Event was last told. */
export function timeOf(event: Raw): string {
  const series = stringIn(recordIn(event, "series"), "lastObservedTime");
  return (
    series ?? stringIn(event, "lastTimestamp") ?? stringIn(event, "eventTime") ?? event.metadata.creationTimestamp ?? ""
  );
}
