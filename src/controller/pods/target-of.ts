import { allowsNamespace } from "../../api/allowed-namespaces.ts";
import { finalizer } from "../../api/names.ts";
import type { NodeVolumeSetSpec, VolumeSource } from "../../api/types.gen.ts";
import type { NodeInput, NodePods } from "../model/node-input.ts";
import type { PodEntry } from "../model/pod-entry.ts";
import type { PodVolume } from "../model/pod-volume.ts";
import type { Intent, SetEntry } from "../model/projections.ts";
import { type SetShare, type Settings, sameSettings, settingsOf, settingsOfIntent } from "../model/set-share.ts";
import { type IntentName, intentNameOf, sameSource, setLabel, volumeIdentity } from "../model/volume-identity.ts";
import { selectNode } from "../nodes/select-nodes.ts";
import type { RejectionReason, Target } from "./admitted-pods.ts";

/** Dependencies of finding the intent of a pod's volume. */
export interface TargetContext {
  readonly input: NodeInput & { readonly pods: NodePods };
  readonly live: ReadonlyMap<IntentName, Intent>;
  readonly chosen: ReadonlyMap<string, readonly SetShare[]>;
  readonly sets: ReadonlyMap<string, SetEntry>;
}

/** What holds for a volume that no set has settings for: those of a set that says nothing. */
const plainSettings: Settings = {
  mode: "Manage",
  unmountPolicy: { max: "Normal", timeoutSeconds: 90 },
  deletionPolicy: "Unmount",
  adopt: "Never",
  nodeLossPolicy: { type: "Never" },
};

/** PURE. Whether a volume of a pod belongs to no intent. */
export function isRefused(target: Target | RejectionReason): target is RejectionReason {
  return "reason" in target;
}

/**
 * The intent that a volume of a pod belongs to, or why it gets none. Pure.
 * @param wanted what older pods of the same look have come to, by intent
 * @param at the intent that has it already
 * @returns undefined where something that comes by itself is waited for
 */
export function targetOf(
  context: TargetContext,
  wanted: ReadonlyMap<IntentName, Target>,
  pod: PodEntry,
  volume: PodVolume,
  at: Intent | undefined,
): Target | RejectionReason | undefined {
  const { request } = volume;
  if ("field" in request) {
    const message = `.spec.volumes[${volume.name}].${request.field} ${request.message}`;
    return { reason: "Invalid", message };
  }
  const { wants } = request;
  if ("persistentVolumeClaim" in wants) {
    // What its node says of a pod that the API server did not make must not bring claims to that node (as
    // NodeRestriction has it).
    if (pod.isMirror) {
      const message = `.spec.volumes[${volume.name}]: a static pod gets no claim, because only its node vouches for its namespace`;
      return { reason: "Invalid", message };
    }
    const { namespace = "" } = pod.metadata;
    const source = { persistentVolumeClaim: { namespace, claimName: wants.persistentVolumeClaim } };
    const place = ofSource(context, { source });
    if (at !== undefined && sameSource(at.spec.source, place.source)) return stay(at);
    // Else a pod's owner makes as many intents as there are names.
    const isThere = context.input.pods.hasClaim(namespace, wants.persistentVolumeClaim);
    if (isThere === undefined) return undefined;
    if (isThere) return join(context, wanted, place);
    return { reason: "ClaimNotFound", message: `there is no claim ${namespace}/${wants.persistentVolumeClaim}` };
  }
  const entry = context.sets.get(wants.set);
  // Nobody has said that a set which was removed without its finalizer, or is not understood, wants nothing any more.
  if (at !== undefined && entry?.spec === undefined && entry?.metadata.deletionTimestamp === undefined) return stay(at);
  const refused = refusedBySet(context, entry, wants.set, pod, at);
  if (refused !== undefined || entry?.spec === undefined) return refused;
  const consent = context.input.consent(wants.set, entry.spec.volume.source);
  const isDenied = consent !== undefined && consent !== "unknown";
  // Without a grant nothing is in use, and its wait would be that of every pod beside it.
  if (at !== undefined && !(isDenied && at.spec.grant === undefined)) return stay(at);
  if (consent !== undefined) return isDenied ? consent : undefined;
  // Without it, the set could be gone before its volume is.
  if (!(entry.metadata.finalizers ?? []).includes(finalizer.unmount)) return undefined;
  const [own] = context.chosen.get(wants.set) ?? [];
  const intent = own && context.live.get(own.intentName);
  // Where the set has its mounts, whatever it wants by now: the node gets the newest by the rollout.
  if (intent !== undefined) return join(context, wanted, stay(intent));
  const asked = { set: wants.set, settings: settingsOf(entry.spec) };
  return join(context, wanted, ofSource(context, entry.spec.volume, entry), asked);
}

function refusedBySet(
  { input, chosen }: TargetContext,
  entry: SetEntry | undefined,
  set: string,
  { metadata, isMirror }: PodEntry,
  at: Intent | undefined,
): RejectionReason | undefined {
  const { namespace = "" } = metadata;
  if (entry === undefined) return { reason: "SetNotFound", message: `there is no NodeVolumeSet ${set}` };
  const { spec } = entry;
  if (entry.metadata.deletionTimestamp !== undefined) {
    return { reason: "SetNotServing", message: `NodeVolumeSet ${set} is being deleted` };
  }
  if (spec === undefined) {
    return { reason: "SetNotServing", message: `NodeVolumeSet ${set} is not valid: ${entry.invalid}` };
  }
  if (!allowsNamespace(spec.allowedNamespaces, namespace, input.pods.labelsOf(namespace))) {
    const message = `NodeVolumeSet ${set} does not allow pods of namespace ${namespace}: its spec.allowedNamespaces must name or select it`;
    return { reason: "NamespaceNotAllowed", message };
  }
  if (isMirror && (chosen.get(set) ?? []).length === 0) {
    const message = `NodeVolumeSet ${set} has no mounts on node ${input.name}: a static pod gets what its node has anyway`;
    return { reason: "SetNotServing", message };
  }
  if (at !== undefined) return undefined;
  if (spec.mode !== "Manage") {
    return { reason: "SetNotServing", message: `NodeVolumeSet ${set} only observes (mode: ${spec.mode})` };
  }
  if (spec.volume.volumeMode !== "Filesystem") {
    const message = `NodeVolumeSet ${set} has volumeMode ${spec.volume.volumeMode}: pods get file systems alone`;
    return { reason: "BlockForPods", message };
  }
  if (!runsOn(spec, input)) {
    const message = `NodeVolumeSet ${set} does not select node ${input.name}: give the pod the set's nodeSelector, affinity and tolerations`;
    return { reason: "NodeNotSelected", message };
  }
  return undefined;
}

/** A cordoned node is none that the set's pods must leave: that they are evicted from it is for whoever drains it. */
function runsOn(spec: NodeVolumeSetSpec, { node }: NodeInput): boolean {
  return node !== undefined && selectNode({ ...spec, drainPolicy: "Keep" }, node) === "run";
}

type Place = Pick<Target, "intentName" | "source" | "identity">;

function ofSource(
  { input }: TargetContext,
  volume: { readonly source: VolumeSource; readonly fsType?: NodeVolumeSetSpec["volume"]["fsType"] },
  set?: SetEntry,
): Place {
  const identity = volumeIdentity({
    nodeName: input.name,
    setName: set?.metadata.name ?? "",
    setUID: set?.metadata.uid ?? "",
    volume: { ...volume, volumeMode: "Filesystem" },
  });
  return { intentName: identity.intentName, source: identity.source, identity };
}

function stay({ metadata, spec }: Intent): Target {
  const { source } = spec;
  return { intentName: intentNameOf({ metadata }), source, identity: undefined, settings: settingsOfIntent(spec) };
}

/**
 * Into an intent that is there, or about to be, on its terms; or into a new one.
 * @param asked the set whose volume it shall be, if its settings matter; who asks for a claim takes it as it is
 */
function join(
  { input, live, chosen }: TargetContext,
  wanted: ReadonlyMap<IntentName, Target>,
  { intentName, source, identity }: Place,
  asked?: { readonly set: string; readonly settings: Settings },
): Target | RejectionReason | undefined {
  // One name is one object: the volume can come again when the node has let go of it.
  if (input.intents.some(({ metadata }) => metadata.name === intentName) && !live.has(intentName)) return undefined;
  const there = live.get(intentName);
  const first = there?.spec ?? wanted.get(intentName);
  if (first !== undefined && !sameSource(first.source, source)) {
    return { reason: "Conflict", message: `its intent would have the name of another volume's: ${intentName}` };
  }
  const inForce = settingsInForce(intentName, live, chosen) ?? wanted.get(intentName)?.settings;
  const settings = inForce ?? asked?.settings ?? plainSettings;
  if (settings.mode !== "Manage") {
    return { reason: "SetNotServing", message: `a NodeVolumeSet only observes the volume on node ${input.name}` };
  }
  const labels = there?.metadata.labels ?? {};
  // Its own, as it was when the set said something else: that is in force until the last pod has gone.
  const isOwn = asked !== undefined && Object.hasOwn(labels, setLabel(asked.set));
  if (asked !== undefined && !isOwn && !sameSettings(asked.settings, settings)) {
    const message = `another NodeVolumeSet, or a claim, has the volume of ${asked.set} on node ${input.name}, with other settings`;
    return { reason: "Conflict", message };
  }
  return { intentName, source, identity, settings };
}

/** The settings that an intent has or is about to get, by those who are in it with mounts. */
function settingsInForce(
  intentName: IntentName,
  live: ReadonlyMap<IntentName, Intent>,
  chosen: ReadonlyMap<string, readonly SetShare[]>,
): Settings | undefined {
  for (const shares of chosen.values()) {
    const share = shares.find((one) => one.intentName === intentName);
    if (share !== undefined) return share.settings;
  }
  const intent = live.get(intentName);
  return intent && settingsOfIntent(intent.spec);
}
