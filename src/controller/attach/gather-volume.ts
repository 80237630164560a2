import { podDriver } from "../../api/names.ts";
import type { Storage } from "../cache/storage.ts";
import { isDisk } from "../model/disk-id.ts";
import type { Intent, NodeInfo } from "../model/projections.ts";
import { type VolumeID, volumeKey } from "../model/volume-key.ts";
import type { Expectations } from "./expectations.ts";
import { resolveVolume } from "./resolve-volume.ts";
import type { Place, VolumeConsumer, VolumeFacts } from "./volume-facts.ts";
import type { VolumeIndex } from "./volume-index.ts";

/** Sources of the facts about one volume: caches only, no request. */
export interface GatherVolumeDeps {
  readonly storage: Pick<Storage, "csiNodes" | "csiDrivers">;
  readonly index: VolumeIndex;
  readonly expectations: Expectations;
  readonly node: (name: string) => NodeInfo | undefined;
  /** False: nothing is attached, to no node. */
  readonly controllerAttachDetach: boolean;
}

/** What is known of a volume, from memory. */
export function gatherVolume(deps: GatherVolumeDeps, id: VolumeID): VolumeFacts {
  const { storage, index, expectations } = deps;
  const key = volumeKey(id);
  const intents = index.intents(key).filter(({ spec }) => spec.mode === "Manage");
  const driver = storage.csiDrivers.store.get(id.driver);
  return {
    id,
    attachRequired: !isDisk(id) && (driver?.attachRequired ?? true),
    tokenAudiences: driver?.tokenAudiences ?? [],
    audiencesOfPods: storage.csiDrivers.store.get(podDriver)?.tokenAudiences ?? [],
    lifecycleModes: driver?.lifecycleModes ?? ["Persistent"],
    consumers: intents.map((intent) => volumeConsumer(deps, id, intent)),
    claims: index.claims(key),
    attachments: index.attachments(key),
    attaching: expectations.attaching(id),
    node: deps.node,
  };
}

function volumeConsumer(deps: GatherVolumeDeps, id: VolumeID, intent: Intent): VolumeConsumer {
  const { nodeName } = intent.spec;
  return {
    intent,
    node: deps.node(nodeName),
    resolution: resolveVolume(intent.spec, deps.index.objects),
    granting: deps.expectations.granting(intent),
    place: placeOf(deps, id, nodeName),
  };
}

/** How a driver stands on a node at this moment. */
export function placeOf(deps: GatherVolumeDeps, id: VolumeID, node: string): Place {
  const { storage, index, expectations } = deps;
  const found = storage.csiNodes.store.get(node)?.drivers.find(({ name }) => name === id.driver);
  const attached = new Set([...index.attachedOn(id, node), ...expectations.attachingOn(id, node)]);
  const unmanaged = unmanagedBecause(deps, node);
  return { nodeID: found?.nodeID, limit: found?.limit, attached: attached.size, unmanaged };
}

function unmanagedBecause({ controllerAttachDetach, node }: GatherVolumeDeps, name: string): string | undefined {
  if (!controllerAttachDetach) return "the controller runs with --controller-attach-detach=false";
  if (node(name)?.attachesItself !== true) return undefined;
  return 'its annotation volumes.kubernetes.io/controller-managed-attach-detach is "false"';
}
