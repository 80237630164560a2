import { allowsNamespace } from "../../api/allowed-namespaces.ts";
import { gate } from "../../api/names.ts";
import type { Reason } from "../../api/reasons.ts";
import type { NodeVolumeSetSpec, VolumeSource } from "../../api/types.gen.ts";
import { resolveClaim } from "../claims/resolve-claim.ts";
import type { NodeInput } from "../model/node-input.ts";
import type { PodEntry } from "../model/pod-entry.ts";
import type { PodVolume } from "../model/pod-volume.ts";
import type { SetEntry } from "../model/projections.ts";
import type { ClaimObjects } from "../model/storage-objects.ts";
import type { RejectionReason } from "../pods/admitted-pods.ts";
import { allOf, demandOfSet, type NodeDemand, termsOf } from "./node-demand.ts";

/** What the gates of a pod are decided by. */
export interface GateFacts {
  readonly set: (name: string) => SetEntry | undefined;
  /** Labels of a Namespace. */
  readonly labelsOf: (namespace: string) => { readonly [key: string]: string } | undefined;
  /** undefined: claims and PersistentVolumes are not all known. */
  readonly claims: ClaimObjects | undefined;
  readonly consent: NodeInput["consent"];
}

/** undefined: what is decided by is not all known, which ends by itself. */
export type GateDecision = { readonly wait: RejectionReason } | { readonly demand: NodeDemand } | undefined;

/**
 * Whether a pod may go to the scheduler, and to which Nodes: those where each of its volumes is to be had, as the
 * scheduler does not see inline volumes (safety rule 20). All gates of ours go at once. Pure.
 *
 * - `nodevolume.dev/volumes`: all volumes of csi.nodevolume.dev that the pod names. They need not be mounted yet:
 *   NodePublishVolume waits.
 * - `nodevolume.dev/<set>`: the set has its volume ready on some node. It gives no access, so no namespace has to be
 *   allowed: the pod may have the volume by way of a hostPath.
 */
export function decideGates(pod: PodEntry, facts: GateFacts): GateDecision {
  const demands: NodeDemand[] = [];
  const names = (pod.gates ?? []).map((name) => name.slice(gate.prefix.length));
  const parts = names.flatMap((name) =>
    `${gate.prefix}${name}` === gate.volumes
      ? pod.volumes.map((volume) => ofVolume(pod, volume, facts))
      : [ofGate(name, facts)],
  );
  for (const part of parts) {
    if (part === undefined || "wait" in part) return part;
    demands.push(part.demand);
  }
  const all = allOf(demands);
  return "problem" in all ? { wait: { reason: "NodeAffinityConflict", message: all.problem } } : { demand: all };
}

function wait(reason: Reason, message: string): GateDecision {
  return { wait: { reason, message } };
}

function ofVolume(pod: PodEntry, { name, request }: PodVolume, facts: GateFacts): GateDecision {
  if ("field" in request) return wait("Invalid", `.spec.volumes[${name}].${request.field} ${request.message}`);
  const { wants } = request;
  const { namespace = "" } = pod.metadata;
  if ("persistentVolumeClaim" in wants) return ofClaim(namespace, wants.persistentVolumeClaim, facts);
  const spec = servingSpec(wants.set, facts);
  if ("wait" in spec) return spec;
  if (!allowsNamespace(spec.allowedNamespaces, namespace, facts.labelsOf(namespace))) {
    const message = `NodeVolumeSet ${wants.set} does not allow pods of namespace ${namespace}: its spec.allowedNamespaces must name or select it`;
    return wait("NamespaceNotAllowed", message);
  }
  const there = ofSet(spec, facts);
  if (there === undefined || "wait" in there) return there;
  const refused = facts.consent(wants.set, spec.volume.source);
  if (refused === "unknown") return undefined;
  return refused === undefined ? there : wait(refused.reason, refused.message);
}

function ofGate(set: string, facts: GateFacts): GateDecision {
  const spec = servingSpec(set, facts);
  if ("wait" in spec) return spec;
  if (spec.mounts.length > 0 && (facts.set(set)?.status.ready ?? 0) === 0) {
    return wait("NodesNotReady", `NodeVolumeSet ${set} is ready on no node yet`);
  }
  return ofSet(spec, facts);
}

function servingSpec(set: string, facts: GateFacts): NodeVolumeSetSpec | { readonly wait: RejectionReason } {
  const entry = facts.set(set);
  if (entry === undefined) return { wait: { reason: "SetNotFound", message: `there is no NodeVolumeSet ${set}` } };
  const { spec, metadata } = entry;
  const not = (why: string) => ({ wait: { reason: "SetNotServing" as const, message: `NodeVolumeSet ${set} ${why}` } });
  if (metadata.deletionTimestamp !== undefined) return not("is being deleted");
  if (spec === undefined) return not(`is not valid: ${entry.invalid}`);
  return spec.mode === "Manage" ? spec : not(`only observes (mode: ${spec.mode})`);
}

/** Where no Node is selected the scheduler says so, and an autoscaler makes one: it sees no pod that is gated. */
function ofSet(spec: NodeVolumeSetSpec, facts: GateFacts): GateDecision {
  const own = demandOfSet(spec);
  const source: VolumeSource = spec.volume.source;
  const claim = source.persistentVolumeClaim;
  if (claim === undefined) return { demand: own };
  const there = ofClaim(claim.namespace, claim.claimName, facts);
  if (there === undefined || "wait" in there) return there;
  const all = allOf([own, there.demand]);
  return "problem" in all ? wait("NodeAffinityConflict", all.problem) : { demand: all };
}

function ofClaim(namespace: string, claimName: string, { claims }: GateFacts): GateDecision {
  if (claims === undefined) return undefined;
  const found = resolveClaim({ namespace, claimName }, claims);
  if (!("waiting" in found)) {
    return { demand: { nodeSelector: {}, terms: termsOf(found.persistentVolume.nodeTerms) } };
  }
  // It waits for the node that the scheduler will choose, as with any pod.
  if (found.needsNode !== undefined) return { demand: { nodeSelector: {}, terms: undefined } };
  return wait(found.waiting.reason, found.waiting.message);
}
