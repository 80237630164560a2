import { isOfNodeItself, isSized } from "../../api/source-traits.ts";
import type { IntentMount, NodeVolumeIntentSpec, NodeVolumeSetSpec, SetMount } from "../../api/types.gen.ts";
import { canonicalOptions } from "../../api/values/mount-options.ts";
import { quantityBytes } from "../../api/values/quantity.ts";
import { sameJson } from "../../kube/same-json.ts";
import { compareText } from "../util/canonical-json.ts";
import type { Intent } from "./projections.ts";
import { type IntentName, intentNameOf, labelledSets, type VolumeIdentity } from "./volume-identity.ts";

/**
 * What one set puts into one intent: settings of the whole volume, which its sets must agree on, and its own mounts.
 * Pure.
 */
export interface SetShare {
  readonly intentName: IntentName;
  readonly settings: Settings;
  /** By name; none only where the node itself uses the volume. */
  readonly mounts: readonly IntentMount[];
}

/** Settings of a volume as a whole. Sets that share an intent must agree on them. */
export type Settings = Pick<
  NodeVolumeIntentSpec,
  | "mode"
  | "mountOptions"
  | "destroyAllDataOnDevices"
  | "capacityBytes"
  | "unmountPolicy"
  | "deletionPolicy"
  | "adopt"
  | "nodeLossPolicy"
>;

/** Settings that change nothing on the node while the volume is there. */
export type Policies = Pick<Settings, "unmountPolicy" | "deletionPolicy" | "nodeLossPolicy">;

/** PURE. The settings that a set asks for. */
export function settingsOf(spec: NodeVolumeSetSpec): Settings {
  const { volume, capacity } = spec;
  return settingsFrom(spec, volume, capacity === undefined ? undefined : String(quantityBytes(capacity)));
}

/** PURE. The settings that an intent has. */
export function settingsOfIntent(spec: NodeVolumeIntentSpec): Settings {
  // The size of a CSI volume is its claim's.
  return settingsFrom(spec, spec, isSized(spec.source) ? spec.capacityBytes : undefined);
}

function settingsFrom(
  { mode, unmountPolicy, deletionPolicy, adopt, nodeLossPolicy }: NodeVolumeSetSpec | NodeVolumeIntentSpec,
  volume: NodeVolumeSetSpec["volume"] | NodeVolumeIntentSpec,
  capacityBytes: string | undefined,
): Settings {
  return {
    mode,
    ...optionsOf(volume),
    ...destroyedOf(volume),
    ...(capacityBytes !== undefined && { capacityBytes }),
    ...{ unmountPolicy, deletionPolicy, adopt, nodeLossPolicy },
  };
}

/** PURE. The settings that say how a volume ends. */
export function policiesOf({ unmountPolicy, deletionPolicy, nodeLossPolicy }: Settings): Policies {
  return { unmountPolicy, deletionPolicy, nodeLossPolicy };
}

/** The part that a set wants in the intent of `identity`. */
export function wantedShare(
  identity: VolumeIdentity,
  set: { readonly name: string; readonly uid: string; readonly spec: NodeVolumeSetSpec },
): SetShare {
  const requester = { kind: "NodeVolumeSet", name: set.name, uid: set.uid } as const;
  const mounts = set.spec.mounts.map((mount) => ({
    name: `${set.name}.${mount.name}`,
    requester,
    path: mount.path,
    readOnly: mount.readOnly ?? false,
    ...optionsOf(mount),
    ...ownershipOf(mount),
  }));
  return { intentName: identity.intentName, settings: settingsOf(set.spec), mounts: byName(mounts) };
}

/** What the intents of a node carry for each set, by the set's name. Intents that are being deleted carry nothing. */
export function foundShares(intents: Iterable<Intent>): Map<string, SetShare[]> {
  const found = new Map<string, SetShare[]>();
  for (const { metadata, spec } of intents) {
    if (metadata.deletionTimestamp !== undefined) continue;
    const settings = settingsOfIntent(spec);
    const own = isOfNodeItself(spec) ? labelledSets(metadata).map((set) => [set, []] as const) : [];
    for (const [set, mounts] of [...Map.groupBy(spec.mounts, (mount) => mount.requester.name), ...own]) {
      const part = { intentName: intentNameOf({ metadata }), settings, mounts: byName(mounts.map(normalMount)) };
      found.set(set, [...(found.get(set) ?? []), part]);
    }
  }
  for (const shares of found.values()) shares.sort((a, b) => compareText(a.intentName, b.intentName));
  return found;
}

/** Whether what is there is exactly what is wanted. */
export function sameShares(found: readonly SetShare[], wanted: SetShare): boolean {
  const [only] = found;
  return found.length === 1 && only !== undefined && sameJson(only, wanted);
}

/** PURE. Whether two settings are equal, field by field. */
export function sameSettings(a: Settings, b: Settings): boolean {
  return sameJson(a, b);
}

/** PURE. Mounts sorted by name: an order that does not depend on the sets'. */
export function byName(mounts: readonly IntentMount[]): IntentMount[] {
  return [...mounts].sort((a, b) => compareText(a.name, b.name));
}

/** A mount as wantedShare would write it. */
function normalMount(mount: IntentMount): IntentMount {
  const { name, requester, path, readOnly = false } = mount;
  const { kind, name: setName, uid } = requester;
  return { name, requester: { kind, name: setName, uid }, path, readOnly, ...optionsOf(mount), ...ownershipOf(mount) };
}

/** Group and label that a mount asks for, without what is empty. */
function ownershipOf(
  mount: SetMount | IntentMount,
): Pick<IntentMount, "fsGroup" | "fsGroupChangePolicy" | "seLinuxOptions"> {
  const { fsGroup, fsGroupChangePolicy, seLinuxOptions } = mount;
  return {
    ...(fsGroup !== undefined && { fsGroup }),
    ...(fsGroupChangePolicy !== undefined && { fsGroupChangePolicy }),
    ...(seLinuxOptions !== undefined && { seLinuxOptions }),
  };
}

/** No options and an empty list of options are the same, and so are lists that differ in order alone. */
function optionsOf<O extends string>({ mountOptions = [] }: { mountOptions?: O[] }): { mountOptions?: O[] } {
  return mountOptions.length === 0 ? {} : { mountOptions: canonicalOptions(mountOptions) };
}

/** The same of devices whose data may be destroyed. */
function destroyedOf({ destroyAllDataOnDevices = [] }: Pick<Settings, "destroyAllDataOnDevices">) {
  return destroyAllDataOnDevices.length === 0 ? {} : { destroyAllDataOnDevices: [...destroyAllDataOnDevices].sort() };
}

/** Names of the set's own mounts, as people wrote them. */
export function mountPaths(mounts: readonly (SetMount | IntentMount)[]): string[] {
  return mounts.map((mount) => mount.path);
}
