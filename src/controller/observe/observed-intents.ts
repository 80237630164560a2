import { label } from "../../api/names.ts";
import type { IntentPod, NodeVolumeIntentSpec, ObservedVolume } from "../../api/types.gen.ts";
import type { PodEntry } from "../model/pod-entry.ts";
import type { Intent, NodeInfo } from "../model/projections.ts";
import type { ClaimObjects, PersistentVolume } from "../model/storage-objects.ts";
import { nodeLabel, observedIdentity } from "../model/volume-identity.ts";
import { dedupeByUID } from "../pods/dedupe-by-uid.ts";
import { compareText } from "../util/canonical-json.ts";

/** An intent of a claim that kubelet manages, as it shall be. */
export interface ObservedIntent {
  readonly name: string;
  readonly labels: { readonly [key: string]: string };
  readonly spec: ObservedSpec;
}

/** What is written of it; the rest has the schema's defaults. */
type ObservedSpec = Pick<
  NodeVolumeIntentSpec,
  "nodeName" | "nodeUID" | "volumeName" | "mode" | "source" | "volumeMode" | "mounts"
> & { readonly pods: IntentPod[]; readonly observed: ObservedVolume };

/** Of the schema: pods of one volume on one node. The oldest are named. */
const mostPods = 256;
/** Of one node, of its oldest pods: what pods name costs nobody anything else, and here it is an object each. */
const mostClaims = 1024;
/** Of the schema, characters. What does not fit is left out, and then the agent looks for less. */
const longest = { driver: 63, volumeHandle: 512 } as const;
const csiPlugin = "kubernetes.io/csi";

/**
 * The observed intents of a node: one for each PVC that its pods use directly. Pure. A PVC that is not bound yet has an
 * intent, too: its status shows what it waits for. Known facts about the volume are kept while the PVC's objects are
 * gone. A PVC that the pod may not use gets no intent, because kubelet mounts nothing of it: `kubectl nvi explain`
 * reports it.
 * @param pods of this node
 * @param existing by name
 */
export function observedIntents(
  node: NodeInfo,
  pods: Iterable<PodEntry>,
  objects: ClaimObjects,
  existing: ReadonlyMap<string, Intent>,
): ObservedIntent[] {
  const all = dedupeByUID(pods).flatMap((pod) => pod.claims.map((claim) => ({ pod, claim })));
  const uses = all.filter((use) => !isOfOther(objects, use));
  const byClaim = Map.groupBy(uses, ({ pod, claim }) => `${pod.metadata.namespace}/${claim.claimName}`);
  const nodeName = node.metadata.name;
  const intents = [...byClaim.values()].slice(0, mostClaims).flatMap((users): ObservedIntent[] => {
    const [first] = users;
    const namespace = first?.pod.metadata.namespace;
    if (first === undefined || namespace === undefined) return [];
    const { claimName, device } = first.claim;
    if (isOfOtherPlugin(objects, namespace, claimName)) return [];
    const { intentName, volumeName } = observedIdentity(nodeName, namespace, claimName);
    const found = existing.get(intentName)?.spec;
    const spec = {
      nodeName,
      nodeUID: node.metadata.uid ?? "",
      volumeName,
      mode: "Observe" as const,
      source: { persistentVolumeClaim: { namespace, claimName } },
      // It never changes: of a claim that another of its name has followed, what the first one was.
      volumeMode: found?.volumeMode ?? (device ? ("Block" as const) : ("Filesystem" as const)),
      mounts: [],
      observed: observedVolume(objects, namespace, claimName) ?? found?.observed ?? unknown,
      pods: users.slice(0, mostPods).map(({ pod, claim }) => entryOf(pod, claim)),
    };
    const labels = { [label.node]: nodeLabel(nodeName), [label.type]: "persistentVolumeClaim" };
    return [{ name: intentName, labels, spec }];
  });
  return intents.sort((a, b) => compareText(a.name, b.name));
}

interface User {
  readonly pod: PodEntry;
  readonly claim: PodEntry["claims"][number];
}

/**
 * Whether a generic ephemeral volume's claim is there, and is not the pod's: somebody else made it, or it was an
 * earlier pod's of the name (behaviour 26, kubelet's ephemeral.VolumeIsForPod). Pure.
 */
export function isOfOther(objects: Pick<ClaimObjects, "claim">, { pod, claim }: User): boolean {
  if (!claim.ephemeral) return false;
  const found = objects.claim(pod.metadata.namespace ?? "", claim.claimName);
  return found !== undefined && found.controllerUID !== pod.metadata.uid;
}

function entryOf({ metadata, uid }: PodEntry, { volume, readOnly }: User["claim"]): IntentPod {
  return { uid, namespace: metadata.namespace ?? "", name: metadata.name, volume, readOnly };
}

const unknown: ObservedVolume = { plugin: csiPlugin, volumeName: "" };

/** undefined: the claim is not bound, or to nothing that is there, or not to a volume of a CSI driver. */
function observedVolume(objects: ClaimObjects, namespace: string, claimName: string): ObservedVolume | undefined {
  const persistentVolume = volumeOfClaim(objects, namespace, claimName);
  const csi = persistentVolume?.csi;
  if (persistentVolume === undefined || csi === undefined) return undefined;
  const { driver, volumeHandle } = csi;
  const fits = driver.length <= longest.driver && volumeHandle.length <= longest.volumeHandle;
  const attachRequired = objects.csiDriver(driver)?.attachRequired ?? true;
  const named = fits ? { driver, volumeHandle, attachRequired } : {};
  return { plugin: csiPlugin, volumeName: persistentVolume.metadata.name, ...named };
}

/**
 * What kubelet mounts without a CSI driver (local, nfs, hostPath …) is not looked for on nodes, so nothing is said of
 * it.
 */
function isOfOtherPlugin(objects: ClaimObjects, namespace: string, claimName: string): boolean {
  const persistentVolume = volumeOfClaim(objects, namespace, claimName);
  return persistentVolume !== undefined && persistentVolume.csi === undefined;
}

/** Also of a claim that is being deleted: pods have it until they end (behaviour 26). */
export function volumeOfClaim(
  objects: ClaimObjects,
  namespace: string,
  claimName: string,
): PersistentVolume | undefined {
  const claim = objects.claim(namespace, claimName);
  if (claim === undefined || claim.volumeName === "") return undefined;
  const persistentVolume = objects.persistentVolume(claim.volumeName);
  return persistentVolume?.claimRef?.uid === claim.metadata.uid ? persistentVolume : undefined;
}
