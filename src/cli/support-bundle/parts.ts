import { type Resource, resource, systemNamespace } from "../../api/names.ts";
import { recordIn, stringIn } from "../../kube/json.ts";
import type { Selection } from "../cluster.ts";
import { trimmed, trimmedConfigMap, trimmedNode, trimmedWorkload } from "./trim.ts";

/** One file of objects. */
export interface Part {
  readonly path: string;
  readonly resource: Resource;
  readonly select?: Selection;
  /** Those that belong into it, of what the server gave. */
  readonly keep?: (object: unknown) => boolean;
  readonly trim: (object: unknown) => unknown;
}

const apps = { group: "apps", version: "v1" } as const;
export const deployments: Resource = { ...apps, plural: "deployments", kind: "Deployment" };
export const daemonSets: Resource = { ...apps, plural: "daemonsets", kind: "DaemonSet" };

const nameOf = (object: unknown) => stringIn(recordIn(object, "metadata"), "name") ?? "";
const onNode = (node: string) => (object: unknown) => stringIn(recordIn(object, "spec"), "nodeName") === node;

/** PURE. What is read of the cluster: all that is ours, and of Kubernetes' own what volumes have to do with. */
export function partsOf(node: string | undefined): Part[] {
  const named = node === undefined ? {} : { select: { fieldSelector: `metadata.name=${node}` } };
  const system = { select: { namespace: systemNamespace } };
  const said = (component: string): Part => ({
    path: `events/${component}.json`,
    resource: resource.events,
    select: { fieldSelector: `source=${component}` },
    ...(node !== undefined && { keep: (event: unknown) => aboutNode(event, node) }),
    trim: trimmed,
  });
  return [
    { path: "objects/nodevolumesets.json", resource: resource.sets, trim: trimmed },
    {
      path: "objects/nodevolumeintents.json",
      resource: resource.intents,
      ...(node !== undefined && { select: { fieldSelector: `spec.nodeName=${node}` } }),
      trim: trimmed,
    },
    { path: "objects/nodevolumestates.json", resource: resource.states, ...named, trim: trimmed },
    { path: "cluster/nodes.json", resource: resource.nodes, ...named, trim: trimmedNode },
    { path: "cluster/csinodes.json", resource: resource.csiNodes, ...named, trim: trimmed },
    { path: "cluster/csidrivers.json", resource: resource.csiDrivers, trim: trimmed },
    {
      path: "cluster/volumeattachments.json",
      resource: resource.volumeAttachments,
      ...(node !== undefined && { keep: onNode(node) }),
      trim: trimmed,
    },
    said("nodevolume-controller"),
    said("nodevolume-agent"),
    { path: "events/nodevolume-system.json", resource: resource.events, ...system, trim: trimmed },
    { path: "system/deployments.json", resource: deployments, ...system, trim: trimmedWorkload },
    { path: "system/daemonsets.json", resource: daemonSets, ...system, trim: trimmedWorkload },
    {
      path: "system/configmaps.json",
      resource: resource.configMaps,
      ...system,
      keep: (map) => nameOf(map).startsWith("nodevolume-"),
      trim: trimmedConfigMap,
    },
    { path: "system/leases.json", resource: resource.leases, ...system, trim: trimmed },
  ];
}

/** Of the node, its intents, or by its agent. What is told of sets and claims may be about any node: it stays. */
function aboutNode(event: unknown, node: string): boolean {
  const involved = recordIn(event, "involvedObject");
  const name = stringIn(involved, "name") ?? "";
  const ofNodes = ["NodeVolumeIntent", "NodeVolumeState", "Node"].includes(stringIn(involved, "kind") ?? "");
  const host = stringIn(recordIn(event, "source"), "host");
  return host === node || name === node || name.startsWith(`${node}.`) || (host === undefined && !ofNodes);
}
