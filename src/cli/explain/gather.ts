import { createHash } from "node:crypto";
import type { KubeObject } from "../../api/meta.ts";
import { type Resource, resource, systemNamespace } from "../../api/names.ts";
import type { NodeVolumeIntent, NodeVolumeSet, NodeVolumeState } from "../../api/types.gen.ts";
import { type FactList, type Facts, named, type Raw } from "../../explain/facts.ts";
import type { ListOptions } from "../../kube/client/client.ts";
import { recordIn, stringIn } from "../../kube/json.ts";
import { type Lease, leaseValidityAt } from "../../kube/leases/lease.ts";
import { type Cluster, getIfAllowed, listIfAllowed } from "../cluster.ts";
import type { PodVolume } from "./pod-facts.ts";

/** Facts as they are read, one kind after the other; what was read is kept, what was refused is remembered. */
export interface Gathering {
  list<T extends KubeObject>(as: FactList, what: Resource, options?: ListOptions): Promise<readonly T[]>;
  get<T extends KubeObject>(as: FactList, what: Resource, name: string, namespace?: string): Promise<T | undefined>;
  facts(): Facts;
}

/** Collects the facts of one explanation: each object is kept once, and a list that RBAC denies is noted. */
export function gathering(cluster: Cluster, now: number): Gathering {
  const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");
  const read = new Map<FactList, Map<string, KubeObject>>();
  const denied: { [list in FactList]?: string } = {};
  const keep = (as: FactList, items: readonly KubeObject[], why: string | undefined) => {
    if (why !== undefined) denied[as] = why;
    const kept = read.get(as) ?? new Map<string, KubeObject>();
    read.set(as, kept);
    for (const item of items) kept.set(`${item.metadata.namespace ?? ""}/${item.metadata.name}`, item);
  };
  const of = <T>(as: FactList) => [...(read.get(as)?.values() ?? [])] as unknown as T[];
  return {
    async list<T extends KubeObject>(as: FactList, what: Resource, options?: ListOptions) {
      const { items, denied: why } = await listIfAllowed<T>(cluster, what, options);
      keep(as, items, why);
      return items;
    },
    async get<T extends KubeObject>(as: FactList, what: Resource, name: string, namespace?: string) {
      const { items, denied: why } = await getIfAllowed<T>(cluster, what, { name, namespace });
      keep(as, items, why);
      return items[0];
    },
    facts: () => ({
      now,
      sha256,
      denied,
      pods: of<Raw>("pods"),
      claims: of<Raw>("claims"),
      persistentVolumes: of<Raw>("persistentVolumes"),
      volumeAttachments: of<Raw>("volumeAttachments"),
      csiDrivers: of<Raw>("csiDrivers"),
      csiNodes: of<Raw>("csiNodes"),
      storageClasses: of<Raw>("storageClasses"),
      namespaces: of<Raw>("namespaces"),
      nodes: of<Raw>("nodes"),
      events: of<Raw>("events"),
      agents: of<Lease>("agents").map((lease) => ({
        node: lease.metadata.name,
        lease: leaseValidityAt(lease, now).state,
        renewed: stringIn(recordIn(lease, "spec"), "renewTime"),
      })),
      sets: of<NodeVolumeSet>("sets"),
      intents: of<NodeVolumeIntent>("intents"),
      states: of<NodeVolumeState>("states"),
    }),
  };
}

/** All that is one node's: itself, its agent, its drivers, its volumes. */
export async function gatherNode(from: Gathering, name: string): Promise<void> {
  await Promise.all([
    from.get("nodes", resource.nodes, name),
    from.get("agents", resource.leases, name, systemNamespace),
    from.get("csiNodes", resource.csiNodes, name),
    from.get("states", resource.states, name),
    from.list("intents", resource.intents, { fieldSelector: `spec.nodeName=${name}` }),
  ]);
}

/** A claim with its volume, whoever has that, and what is told of it. */
export async function gatherClaim(from: Gathering, namespace: string, name: string): Promise<void> {
  const claim = await from.get<Raw>("claims", resource.claims, name, namespace);
  if (claim === undefined) return;
  const spec = recordIn(claim, "spec");
  const volumeName = stringIn(spec, "volumeName");
  const className = stringIn(spec, "storageClassName");
  await Promise.all([
    volumeName ? from.get("persistentVolumes", resource.persistentVolumes, volumeName) : undefined,
    className ? from.get("storageClasses", resource.storageClasses, className) : undefined,
    from.list("events", resource.events, { namespace, fieldSelector: `involvedObject.name=${name}` }),
    from.list("pods", resource.pods, { namespace }),
  ]);
}

/** PersistentVolumes that a pod has by a set, of whatever namespace the set's claim is. */
export async function gatherGranted(from: Gathering, pod: Raw): Promise<void> {
  const { intents, persistentVolumes } = from.facts();
  const used = intents.filter(({ spec }) => spec.pods?.some(({ uid }) => uid === pod.metadata.uid));
  const granted = new Set(used.map(({ spec }) => spec.grant?.persistentVolume?.name ?? ""));
  const unknown = [...granted].filter((name) => name !== "" && named(persistentVolumes, name) === undefined);
  await Promise.all(unknown.map((name) => from.get("persistentVolumes", resource.persistentVolumes, name)));
}

/** Claims of the sets that a pod uses: each says whether it allows its set. */
export async function gatherClaimsOfSets(from: Gathering, volumes: readonly PodVolume[]): Promise<void> {
  const { sets } = from.facts();
  const used = sets.filter(({ metadata }) => volumes.some((one) => one.kind === "ours" && one.set === metadata.name));
  const claims = used.flatMap(({ spec }) => spec.volume.source.persistentVolumeClaim ?? []);
  await Promise.all(claims.map((one) => from.get("claims", resource.claims, one.claimName, one.namespace)));
}

/** What attaches, on the whole cluster. */
export async function gatherAttachments(from: Gathering): Promise<void> {
  await Promise.all([
    from.list("volumeAttachments", resource.volumeAttachments),
    from.list("csiDrivers", resource.csiDrivers),
  ]);
}

/** Nodes that others wait for, as far as what was read names them. */
export async function gatherHolders(from: Gathering, known: readonly string[]): Promise<void> {
  const { intents, volumeAttachments, persistentVolumes } = from.facts();
  const volumes = new Set(persistentVolumes.map(({ metadata }) => metadata.name));
  const attachedTo = volumeAttachments
    .map((raw) => recordIn(raw, "spec"))
    .filter((spec) => volumes.has(stringIn(recordIn(spec, "source"), "persistentVolumeName") ?? ""))
    .map((spec) => stringIn(spec, "nodeName"));
  const waitedFor = intents
    .map(({ status }) => status?.waiting?.on ?? status?.attach?.on)
    .map((on) => (on?.kind === "Node" ? on.name : on?.node));
  const nodes = new Set([...attachedTo, ...waitedFor].filter((name) => name !== undefined && !known.includes(name)));
  await Promise.all([...nodes].slice(0, 5).map((name) => gatherNode(from, name ?? "")));
}

/** Events of drift: how often a volume drifted. Nothing for those who may not read the intents that they are of. */
export async function gatherDrift(from: Gathering): Promise<void> {
  if (from.facts().denied.intents !== undefined) return;
  const fieldSelector = `involvedObject.kind=${resource.intents.kind},reason=Drifted`;
  await from.list("events", resource.events, { namespace: "default", fieldSelector });
}
