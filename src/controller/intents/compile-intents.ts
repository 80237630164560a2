import { label } from "../../api/names.ts";
import { isOfNodeItself, isSized } from "../../api/source-traits.ts";
import type { IntentPod, NodeVolumeIntentSpec } from "../../api/types.gen.ts";
import { sameJson } from "../../kube/same-json.ts";
import type { NodeFacts } from "../model/node-facts.ts";
import type { NodeInput, SetOnNode } from "../model/node-input.ts";
import type { Intent, SetEntry } from "../model/projections.ts";
import { byName, type Policies, policiesOf, type SetShare, settingsOf, settingsOfIntent } from "../model/set-share.ts";
import {
  type IntentName,
  intentNameOf,
  nodeLabel,
  requestersOf,
  setLabel,
  sourceType,
} from "../model/volume-identity.ts";
import { isObserved } from "../nodes/availability.ts";
import { admitPods } from "../pods/admit-pods.ts";
import type { AdmittedPods } from "../pods/admitted-pods.ts";
import { releaseProof } from "../release/decide-release.ts";
import { compareText } from "../util/canonical-json.ts";
import { chooseShares } from "./choose-shares.ts";
import { byAge } from "./size-limits.ts";

/** An intent as it shall be. The grant is left to the writer: what has one keeps it. */
interface DesiredIntent {
  readonly name: IntentName;
  readonly labels: { readonly [key: string]: string };
  readonly spec: Omit<NodeVolumeIntentSpec, "grant">;
}

/** What the intents of one node shall be. */
export interface NodePlan {
  readonly desired: readonly DesiredIntent[];
  readonly remove: readonly Removal[];
  /** Volumes of pods that are in none; undefined while the pods are not known. */
  readonly rejections: AdmittedPods["rejections"] | undefined;
  /** What is wrong with those that are. */
  readonly notices: AdmittedPods["notices"] | undefined;
}

/** An intent that is to be deleted. */
interface Removal {
  readonly intent: Intent;
  /** Written before: an unmount must go by what the set says now, even if the rollout had not brought it here yet. */
  readonly policies?: Policies;
}

/**
 * The intents of one node from what its sets want and have there. Pure, and stable: once its result is written, it
 * returns the same.
 * 1. Each set contributes its desired part, or its present part if it is held back or not admitted by the rollout.
 * 2. Settings belong to the volume: they change only when all sets of the volume agree. Until then, a set with other
 *    settings keeps its present part.
 * 3. Intents without any set are removed; the others are assembled from the parts of their sets.
 *
 * Mounts that no one has revoked stay: sets that are gone or not understood contribute their present part, and so do
 * all sets while the Node object is missing, until the set's own policy or an administrator gives up the node.
 * @param mayUpdate whether the rollout has admitted the node for a set
 */
export function compileNode(
  input: NodeInput,
  setsOnNode: ReadonlyMap<string, SetOnNode>,
  mayUpdate: (set: string) => boolean,
  facts: NodeFacts,
): NodePlan {
  // What kubelet manages is not compiled here.
  const intents = input.intents.filter(({ spec }) => spec.observed === undefined);
  const live = new Map(
    intents.filter((i) => i.metadata.deletionTimestamp === undefined).map((i) => [intentNameOf(i), i]),
  );
  const chosen = chooseShares(setsOnNode, live, mayUpdate);
  const given = [...chosen].flatMap(([set, shares]) => shares.map((share) => ({ set, share })));
  const groups = Map.groupBy(given, ({ share }) => share.intentName);
  const { pods } = input;
  const admitted = pods && input.node ? admitPods({ ...input, pods }, live, chosen) : undefined;
  const entries = new Map(input.sets.map((entry) => [entry.metadata.name, entry]));
  const context: CompileContext = { input, setsOnNode, entries, facts, admitted };
  const desired: DesiredIntent[] = [];
  const remove: Removal[] = [];
  for (const intent of intents) {
    const name = intentNameOf(intent);
    const parts = groups.get(name) ?? [];
    const found = intent.spec.pods ?? [];
    const wanted = admitted === undefined ? found.length > 0 : admitted.volumes.has(name);
    const lost = input.node === undefined && releaseProof(intent, facts) !== undefined;
    if (!live.has(name)) desired.push(followed(intent, input));
    else if (lost) remove.push(removal(intent, context));
    else if (parts.length > 0 || wanted) desired.push(updated(intent, parts, context));
    // An intent that never had anybody is not ours to judge.
    else if (intent.spec.mounts.length + found.length > 0 || isOfNodeItself(intent.spec))
      remove.push(removal(intent, context));
  }
  for (const name of new Set([...groups.keys(), ...(admitted?.volumes.keys() ?? [])])) {
    if (!live.has(name)) desired.push(...created(name, groups.get(name) ?? [], context));
  }
  return {
    desired: desired.sort((a, b) => compareText(a.name, b.name)),
    remove: remove.sort((a, b) => compareText(a.intent.metadata.name, b.intent.metadata.name)),
    rejections: admitted?.rejections,
    notices: admitted?.notices,
  };
}

/** What the intents of the node are put together from. */
interface CompileContext {
  readonly input: NodeInput;
  readonly setsOnNode: ReadonlyMap<string, SetOnNode>;
  readonly entries: ReadonlyMap<string, SetEntry>;
  readonly facts: NodeFacts;
  /** undefined: nothing can be said of pods now, so that those of intents stay. */
  readonly admitted: AdmittedPods | undefined;
}

interface ShareOfSet {
  readonly set: string;
  readonly share: SetShare;
}

function updated(intent: Intent, shares: readonly ShareOfSet[], context: CompileContext): DesiredIntent {
  const { input, facts, admitted } = context;
  const { grant: _, pods: found, ...before } = intent.spec;
  const volume = admitted?.volumes.get(intentNameOf(intent));
  const unknown = admitted === undefined && found !== undefined;
  const setsOfPods = unknown ? requestersOf(intent) : (volume?.sets ?? []);
  const sets = inOrder([...shares.map(({ set }) => set), ...setsOfPods], context);
  const settings = shares[0]?.share.settings ?? { ...settingsOfIntent(intent.spec), ...policiesFrom(sets, context) };
  const pods = admitted === undefined ? found : volume?.pods;
  // The set's finalizer goes by these labels, so they stay until the node has let its mounts go, and those of its pods.
  const lingering = Object.keys(intent.metadata.labels ?? {}).filter(
    (key) => key.startsWith(setLabel("")) && lingers(intent, key, pods, facts),
  );
  const spec = {
    ...before,
    ...settings,
    nodeUID: input.node?.metadata.uid ?? before.nodeUID,
    suspend: suspended(sets, context) ?? before.suspend,
    mounts: byName(shares.flatMap(({ share }) => share.mounts)),
    ...(pods !== undefined && pods.length > 0 && { pods: [...pods] }),
  };
  if (settings.mountOptions === undefined) delete spec.mountOptions;
  if (isSized(spec.source) && settings.capacityBytes === undefined) delete spec.capacityBytes;
  if (settings.destroyAllDataOnDevices === undefined) delete spec.destroyAllDataOnDevices;
  const labels = labelsOf(input.name, before.source, sets, lingering);
  return { name: intentNameOf(intent), labels, spec };
}

/**
 * Where pods alone are left, the settings stay that the volume was set up with; what only its end goes by follows the
 * oldest set.
 */
function policiesFrom(sets: readonly string[], { entries }: CompileContext): Policies | undefined {
  const spec = sets.flatMap((set) => entries.get(set)?.spec ?? [])[0];
  return spec && policiesOf(settingsOf(spec));
}

/**
 * An intent that is being deleted: only the UID of a re-created Node is followed, without which its agent may not
 * write.
 */
function followed({ metadata, spec: { grant: _, ...before } }: Intent, input: NodeInput): DesiredIntent {
  const nodeUID = input.node?.metadata.uid ?? before.nodeUID;
  return { name: intentNameOf({ metadata }), labels: metadata.labels ?? {}, spec: { ...before, nodeUID } };
}

function created(name: IntentName, shares: readonly ShareOfSet[], context: CompileContext): DesiredIntent[] {
  const { input, setsOnNode, admitted } = context;
  const volume = admitted?.volumes.get(name);
  const sets = inOrder([...shares.map(({ set }) => set), ...(volume?.sets ?? [])], context);
  const [first] = inOrder(
    shares.map(({ set }) => set),
    context,
  );
  const identity = setsOnNode.get(first ?? "")?.identity ?? volume?.identity;
  const settings = shares[0]?.share.settings ?? volume?.settings;
  const nodeUID = input.node?.metadata.uid;
  if (identity === undefined || settings === undefined || nodeUID === undefined) return [];
  const { volumeName, source, volumeMode, fsType } = identity;
  const spec = {
    nodeName: input.name,
    nodeUID,
    volumeName,
    source,
    volumeMode,
    ...(fsType !== undefined && { fsType }),
    ...settings,
    suspend: suspended(sets, context) ?? false,
    mounts: byName(shares.flatMap(({ share }) => share.mounts)),
    ...(volume && { pods: [...volume.pods] }),
  };
  return [{ name, labels: labelsOf(input.name, source, sets, []), spec }];
}

/**
 * deletionPolicy Retain applies to the deletion of the set alone: a volume that a live set no longer selects is
 * unmounted.
 */
function removal(intent: Intent, context: CompileContext): Removal {
  const mounted = intent.spec.mounts.map((mount) => mount.requester.name);
  const sets = inOrder(mounted.length > 0 ? mounted : [...requestersOf(intent)], context);
  const entries = sets.flatMap((set) => context.entries.get(set) ?? []);
  const spec = entries.find((entry) => entry.spec !== undefined)?.spec;
  if (spec === undefined) return { intent };
  const policies = policiesOf(settingsOf(spec));
  const allDeleted = entries.every(({ metadata }) => metadata.deletionTimestamp !== undefined);
  const wanted: Policies = allDeleted ? policies : { ...policies, deletionPolicy: "Unmount" };
  const same = sameJson(wanted, policiesOf(settingsOfIntent(intent.spec)));
  return same ? { intent } : { intent, policies: wanted };
}

/** undefined: nobody who could say is known. */
function suspended(sets: readonly string[], { input, entries }: CompileContext): boolean | undefined {
  const specs = sets.flatMap((set) => entries.get(set)?.spec ?? []);
  if (input.node === undefined || (specs.length === 0 && sets.length > 0)) return undefined;
  return Object.hasOwn(input.node.metadata.labels ?? {}, label.suspend) || specs.some((spec) => spec.suspend);
}

/** Whether the label of a set that is in the intent no more must stay: the node may still have what it had. */
function lingers(intent: Intent, key: string, pods: readonly IntentPod[] | undefined, facts: NodeFacts): boolean {
  if (releaseProof(intent, facts) !== undefined) return false;
  if (!isObserved(intent)) return true;
  const { mounts = [], pods: shown = [] } = intent.status;
  if (mounts.some((mount) => setLabel(mount.name.replace(/\.[^.]*$/, "")) === key)) return true;
  // Which set a bind was of is not known any more when its pod has left.
  const listed = new Set(pods?.map(({ uid, volume }) => `${uid}/${volume}`));
  return shown.some(
    ({ uid, volume, state }) => state !== "Pending" && state !== "Absent" && !listed.has(`${uid}/${volume}`),
  );
}

/** The oldest set first. */
function inOrder(names: readonly string[], { entries }: CompileContext): string[] {
  const sets = [...new Set(names)].map((set) => ({ set, entry: entries.get(set) }));
  return sets.sort(byAge).map(({ set }) => set);
}

function labelsOf(
  nodeName: string,
  source: NodeVolumeIntentSpec["source"],
  sets: readonly string[],
  lingering: readonly string[],
): { [key: string]: string } {
  return {
    [label.node]: nodeLabel(nodeName),
    [label.type]: sourceType(source),
    ...(sets[0] !== undefined && { [label.set]: sets[0] }),
    ...Object.fromEntries([...sets.map(setLabel), ...lingering].map((key) => [key, ""])),
  };
}
