import { label } from "../api/names.ts";
import type { NodeVolumeIntentSpec } from "../api/types.gen.ts";
import { sameJson } from "../kube/same-json.ts";
import { isObserved } from "./availability.ts";
import { compareText } from "./canonical-json.ts";
import { chooseParts } from "./choose-parts.ts";
import { nodeLabel, setLabel, sourceType } from "./identity.ts";
import type { Part, Policies } from "./part.ts";
import { byName, policiesOf, settingsOf, settingsOfIntent } from "./part.ts";
import type { Intent } from "./projections.ts";
import type { NodeFacts } from "./release.ts";
import { proofOf } from "./release.ts";
import type { NodeInput, Stake } from "./resolve-node.ts";
import { byAge } from "./size-limits.ts";

/** An intent as it shall be. The grant is left to the writer: what has one keeps it. */
export interface DesiredIntent {
  readonly name: string;
  readonly labels: { readonly [key: string]: string };
  readonly spec: Omit<NodeVolumeIntentSpec, "grant">;
}

/** What the intents of one node shall be. */
export interface NodePlan {
  readonly desired: readonly DesiredIntent[];
  readonly remove: readonly Removal[];
}

export interface Removal {
  readonly intent: Intent;
  /** Written before: an unmount must go by what the set says now, even if the rollout had not brought it here yet. */
  readonly policies?: Policies;
}

/**
 * The intents of one node from the stakes of its sets. Pure, and settled: what it yields, once written, it yields again.
 *
 * 1. Each set is in with what it wants or with what it has: with what it has if it is held, or has not been admitted.
 * 2. Settings belong to the volume, so they change only when all sets that are in it want that; until then, who wants
 *    other settings stays with what it has.
 * 3. Intents that no set is in any more are removed; the others are put together from their parts.
 *
 * What nobody has said is no longer wanted stays: sets that are gone or not understood are in with what they have, and
 * so are all sets while there is no such Node, until the set's own policy or an administrator gives the node up.
 * @param mayUpdate whether the rollout has admitted the node for a set
 */
export function compileNode(
  input: NodeInput,
  stakes: ReadonlyMap<string, Stake>,
  mayUpdate: (set: string) => boolean,
  facts: NodeFacts,
): NodePlan {
  const live = new Map(
    input.intents.filter((i) => i.metadata.deletionTimestamp === undefined).map((i) => [i.metadata.name, i]),
  );
  const chosen = chooseParts(stakes, live, mayUpdate);
  const given = [...chosen].flatMap(([set, parts]) => parts.map((part) => ({ set, part })));
  const groups = Map.groupBy(given, ({ part }) => part.intentName);
  const desired: DesiredIntent[] = [];
  const remove: Removal[] = [];
  for (const intent of input.intents) {
    const parts = groups.get(intent.metadata.name) ?? [];
    const lost = input.node === undefined && proofOf(intent, facts) !== undefined;
    if (!live.has(intent.metadata.name)) desired.push(followed(intent, input));
    else if (lost) remove.push(removal(intent, stakes));
    else if (parts.length > 0) desired.push(updated(intent, parts, input, stakes, facts));
    // An intent that never had a mount is not ours to judge.
    else if (intent.spec.mounts.length > 0) remove.push(removal(intent, stakes));
  }
  for (const [name, parts] of groups) {
    if (!live.has(name)) desired.push(...created(name, parts, input, stakes));
  }
  return {
    desired: desired.sort((a, b) => compareText(a.name, b.name)),
    remove: remove.sort((a, b) => compareText(a.intent.metadata.name, b.intent.metadata.name)),
  };
}

interface SetPart {
  readonly set: string;
  readonly part: Part;
}

function updated(
  intent: Intent,
  parts: readonly SetPart[],
  input: NodeInput,
  stakes: ReadonlyMap<string, Stake>,
  facts: NodeFacts,
): DesiredIntent {
  const { grant: _, ...before } = intent.spec;
  const sets = inOrder(
    parts.map(({ set }) => set),
    stakes,
  );
  const settings = parts[0]?.part.settings ?? settingsOfIntent(intent.spec);
  // The set's finalizer goes by these labels, so they stay until the node has let its mounts go.
  const lingering = Object.keys(intent.metadata.labels ?? {}).filter(
    (key) => key.startsWith(setLabel("")) && lingers(intent, key, facts),
  );
  const spec = {
    ...before,
    ...settings,
    nodeUID: input.node?.metadata.uid ?? before.nodeUID,
    suspend: suspended(sets, stakes, input) ?? before.suspend,
    mounts: byName(parts.flatMap(({ part }) => part.mounts)),
  };
  if (settings.mountOptions === undefined) delete spec.mountOptions;
  const labels = labelsOf(input.name, before.source, sets, lingering);
  return { name: intent.metadata.name, labels, spec };
}

/** An intent that is being deleted: only the UID of a re-created Node is followed, without which its agent may not write. */
function followed({ metadata, spec: { grant: _, ...before } }: Intent, input: NodeInput): DesiredIntent {
  const nodeUID = input.node?.metadata.uid ?? before.nodeUID;
  return { name: metadata.name, labels: metadata.labels ?? {}, spec: { ...before, nodeUID } };
}

function created(
  name: string,
  parts: readonly SetPart[],
  input: NodeInput,
  stakes: ReadonlyMap<string, Stake>,
): DesiredIntent[] {
  const sets = inOrder(
    parts.map(({ set }) => set),
    stakes,
  );
  const identity = stakes.get(sets[0] ?? "")?.identity;
  const settings = parts[0]?.part.settings;
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
    suspend: suspended(sets, stakes, input) ?? false,
    mounts: byName(parts.flatMap(({ part }) => part.mounts)),
  };
  return [{ name, labels: labelsOf(input.name, source, sets, []), spec }];
}

/** Retain is for the deletion of the set alone: what a set that goes on gives back is unmounted. */
function removal(intent: Intent, stakes: ReadonlyMap<string, Stake>): Removal {
  const sets = inOrder(
    intent.spec.mounts.map((mount) => mount.requester.name),
    stakes,
  );
  const entries = sets.flatMap((set) => stakes.get(set)?.entry ?? []);
  const spec = entries.find((entry) => entry.spec !== undefined)?.spec;
  if (spec === undefined) return { intent };
  const policies = policiesOf(settingsOf(spec));
  const allDeleted = entries.every(({ metadata }) => metadata.deletionTimestamp !== undefined);
  const wanted: Policies = allDeleted ? policies : { ...policies, deletionPolicy: "Unmount" };
  const same = sameJson(wanted, policiesOf(settingsOfIntent(intent.spec)));
  return same ? { intent } : { intent, policies: wanted };
}

/** undefined: nobody who could say is known. */
function suspended(sets: readonly string[], stakes: ReadonlyMap<string, Stake>, input: NodeInput): boolean | undefined {
  const specs = sets.flatMap((set) => stakes.get(set)?.entry?.spec ?? []);
  if (input.node === undefined || specs.length === 0) return undefined;
  return Object.hasOwn(input.node.metadata.labels ?? {}, label.suspend) || specs.some((spec) => spec.suspend);
}

/** Whether the label of a set whose mounts have left the spec must stay: the node may still have them. */
function lingers(intent: Intent, key: string, facts: NodeFacts): boolean {
  if (proofOf(intent, facts) !== undefined) return false;
  if (!isObserved(intent)) return true;
  return (intent.status.mounts ?? []).some((mount) => setLabel(mount.name.replace(/\.[^.]*$/, "")) === key);
}

/** The oldest set first. */
function inOrder(names: readonly string[], stakes: ReadonlyMap<string, Stake>): string[] {
  const sets = [...new Set(names)].map((set) => ({ set, entry: stakes.get(set)?.entry }));
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
