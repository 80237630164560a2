import { finalizer, label } from "../../api/names.ts";
import { mergeDiff } from "../../kube/merge-diff.ts";
import type { Intent } from "../model/projections.ts";
import { type IntentName, setLabel } from "../model/volume-identity.ts";
import { isGuarded } from "../model/volume-key.ts";
import type { NodePlan } from "./compile-intents.ts";

/** One write. A patch and a deletion are for the very version of the intent that they were computed from. */
export type IntentWrite =
  | {
      readonly verb: "create";
      readonly name: IntentName;
      readonly labels: { readonly [key: string]: string };
      readonly spec: NodePlan["desired"][number]["spec"];
      readonly needsGrant: boolean;
    }
  | { readonly verb: "patch"; readonly intent: Intent; readonly patch: object; readonly needsGrant: boolean }
  | { readonly verb: "delete"; readonly intent: Intent };

/**
 * The writes that turn the intents of a node into what the plan says; none if they are it already. Pure. New before
 * old: a volume that takes the place of another is announced before the other is withdrawn, so that no crash between
 * the two leaves a node that was told to unmount and not to mount.
 */
export function diffIntents(plan: NodePlan, existing: readonly Intent[]): IntentWrite[] {
  const byName = new Map(existing.map((intent) => [intent.metadata.name, intent]));
  const writes: IntentWrite[] = [];
  for (const { name, labels, spec } of plan.desired) {
    const intent = byName.get(name);
    // Where a volume must be attached first, or be nobody else's, the grant comes later (attach/).
    const atOnce = spec.mode === "Manage" && !isGuarded(spec.source);
    const needsGrant = atOnce && intent?.spec.grant === undefined;
    if (intent === undefined) writes.push({ verb: "create", name, labels, spec, needsGrant });
    else {
      const patch = patchOf(intent, labels, spec);
      const deleted = intent.metadata.deletionTimestamp !== undefined;
      if (patch !== undefined || (needsGrant && !deleted)) {
        writes.push({ verb: "patch", intent, patch: patch ?? {}, needsGrant: needsGrant && !deleted });
      }
    }
  }
  for (const { intent, policies } of plan.remove) {
    const spec = policies && mergeDiff(intent.spec, { ...intent.spec, ...policies });
    if (spec !== undefined) writes.push({ verb: "patch", intent, patch: { spec }, needsGrant: false });
    writes.push({ verb: "delete", intent });
  }
  return writes;
}

function patchOf(intent: Intent, labels: { readonly [key: string]: string }, wanted: object): object | undefined {
  const { grant: _, ...before } = intent.spec;
  const spec = mergeDiff(before, wanted);
  const metadata = { ...labelPatch(intent, labels), ...finalizerPatch(intent) };
  if (spec === undefined && Object.keys(metadata).length === 0) return undefined;
  return { ...(Object.keys(metadata).length > 0 && { metadata }), ...(spec && { spec }) };
}

/** Labels of others are left alone. */
function labelPatch({ metadata }: Intent, wanted: { readonly [key: string]: string }): object {
  const isOurs = (key: string) =>
    key === label.node || key === label.type || key === label.set || key.startsWith(setLabel(""));
  const ours = Object.entries(metadata.labels ?? {}).filter(([key]) => isOurs(key));
  const wantedOurs = Object.entries(wanted).filter(([key]) => isOurs(key));
  const labels = mergeDiff(Object.fromEntries(ours), Object.fromEntries(wantedOurs));
  return labels === undefined ? {} : { labels };
}

/** A finalizer that somebody took off an intent that is in force is put back; the list is exchanged as it was read. */
function finalizerPatch({ metadata }: Intent): object {
  const { finalizers = [], deletionTimestamp } = metadata;
  if (deletionTimestamp !== undefined || finalizers.includes(finalizer.inUse)) return {};
  return { finalizers: [...finalizers, finalizer.inUse] };
}
