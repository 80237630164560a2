import { systemNamespace } from "../../../../src/api/names.ts";
import type { Base } from "./collection.ts";
import { claimIn, intentKeys, intentName, intentObject, stateObject } from "./established.ts";
import {
  attachmentObject,
  claimObject,
  csiNodeObject,
  leaseObject,
  namespaceObject,
  nodeObject,
  persistentVolumeObject,
  podObject,
} from "./objects.ts";
import { type Names, uidOf } from "./shape.ts";
import { template } from "./template.ts";

/** How each generated object is written. */
export type Writers = ReturnType<typeof writersOf>;

export const agentBootID = "8b1d4c5e-0000-4000-8000-000000000001";

export function writersOf({ shape, claimsPerPod }: Names) {
  const claimKeys = [...Array(claimsPerPod).keys()].map((k) => `claim${k}`);
  const podKeys = ["name", "namespace", "uid", "version", "node", ...claimKeys];
  const claim = ["name", "namespace", "uid", "version", "volume"] as const;
  const volume = ["name", "namespace", "uid", "version", "volume", "claimUID"] as const;
  return {
    podThatUses: template<string>(podObject(true, shape), podKeys),
    podThatHas: template<string>(podObject(true, shape, shape.ours > 0), podKeys),
    podThatDoesNot: template<string>(podObject(false, shape), podKeys),
    ourClaim: template(claimObject(true), claim),
    heldClaim: template(claimObject(true, true), claim),
    otherClaim: template(claimObject(false), claim),
    ourVolume: template(persistentVolumeObject(true), volume),
    heldVolume: template(persistentVolumeObject(true, true), volume),
    ourIntent: template<string>(intentObject(true, shape.attached, agentBootID), intentKeys),
    otherIntent: template<string>(intentObject(false, shape.attached, agentBootID), intentKeys),
    state: template(stateObject(), ["name", "uid", "version"]),
    otherVolume: template(persistentVolumeObject(false), volume),
    attachment: template(attachmentObject(), ["name", "uid", "version", "volume", "node"]),
    node: template(nodeObject(), ["name", "uid", "version", "heartbeat", "boot"]),
    csiNode: template(csiNodeObject(), ["name", "uid", "version"]),
    lease: template(leaseObject(), ["name", "uid", "version", "heartbeat"]),
    namespace: template(namespaceObject(), ["name", "uid", "version"]),
  };
}

/** RFC 3339 with microseconds, as renewTime is. */
export function heartbeat(now: number): string {
  return new Date(now).toISOString().replace("Z", "000Z");
}

/** PURE. JSON of a pod, also of one that is not there at first. */
export function podText(names: Names, writers: Writers, pod: number, version: number): string {
  const served = names.shape.established && pod < names.pods;
  const write = !names.uses(pod) ? writers.podThatDoesNot : served ? writers.podThatHas : writers.podThatUses;
  const values: { [key: string]: string } = {
    name: names.pod(pod),
    namespace: names.namespaceOfPod(pod),
    uid: uidOf(1, pod),
    version: String(version),
    node: names.nodeOfPod(pod),
  };
  for (const [k, claim] of names.claimsOf(pod).entries()) values[`claim${k}`] = names.claim(claim);
  return write(values);
}

/** JSON of a Node or an agent's Lease with a heartbeat of now. */
export function beating(
  of: "node" | "lease",
  { names, writers }: { readonly names: Names; readonly writers: Writers },
  index: number,
  version: number,
  now: number,
) {
  const values = { name: names.node(index), version: String(version), heartbeat: heartbeat(now) };
  if (of === "lease") return writers.lease({ ...values, uid: uidOf(3, index) });
  return writers.node({ ...values, uid: uidOf(2, index), boot: agentBootID });
}

/** All that is there at first, by plural. */
export function basesOf(names: Names, writers: Writers): { readonly [plural: string]: Base } {
  const { shape, claims } = names;
  const startedAt = Date.now();
  /** Of cluster-scoped objects, or of one namespace. */
  const named = (count: number, nameOf: (i: number) => string, text: (i: number) => string, prefix = ""): Base => ({
    count,
    key: (index) => prefix + nameOf(index),
    text,
    indexOf(key) {
      const index = names.indexIn(key);
      return index !== undefined && index < count && key === prefix + nameOf(index) ? index : undefined;
    },
  });
  const inNamespaces = (count: number, key: (i: number) => string, text: (i: number) => string): Base => ({
    count,
    key,
    text,
    indexOf(wanted) {
      const index = names.indexIn(wanted);
      return index !== undefined && index < count && key(index) === wanted ? index : undefined;
    },
  });
  const versionOf = (index: number) => String(1_000 + index);
  const namespaceOf = (claim: number) => names.namespaceOfPod(names.podOfClaim(claim));
  const plainNode = { names, writers };
  const pods: Base = {
    ...inNamespaces(
      names.pods,
      (pod) => `${names.namespaceOfPod(pod)}/${names.pod(pod)}`,
      (pod) => podText(names, writers, pod, 1_000 + pod),
    ),
    inNamespace: (namespace) => names.podsOf(namespace),
    fields: { "status.phase": "Running" },
  };
  /** Claims of the pods that are there at first. */
  const used = Math.ceil(names.pods / shape.oneInUses) * names.claimsPerPod;
  function pick<T>(claim: number, held: T, ours: T, other: T): T {
    if (!names.isOurs(claim)) return other;
    return shape.established && claim < used ? held : ours;
  }
  const intents: Base = {
    count: used,
    key: (claim) => intentName(names, claim),
    text(claim) {
      const pod = names.podOfClaim(claim);
      const node = names.nodeOfPod(pod);
      return (names.isOurs(claim) ? writers.ourIntent : writers.otherIntent)({
        name: intentName(names, claim),
        uid: uidOf(9, claim),
        version: versionOf(claim),
        node,
        nodeUID: uidOf(2, names.indexIn(node) ?? 0),
        claim: names.claim(claim),
        namespace: namespaceOf(claim),
        volume: names.persistentVolume(claim),
        volumeUID: uidOf(7, claim),
        pod: names.pod(pod),
        podUID: uidOf(1, pod),
      });
    },
    indexOf(key) {
      const claim = claimIn(key);
      return claim !== undefined && claim < used && intentName(names, claim) === key ? claim : undefined;
    },
  };
  const podClaims = names.claimsPerPod === 0 ? 0 : claims;
  const attached = shape.attached && shape.ordinary === 1 ? claims / names.claimsPerPod : 0;
  const states = named(shape.nodes, names.node, (i) =>
    writers.state({ name: names.node(i), uid: uidOf(10, i), version: versionOf(i) }),
  );
  return {
    ...(shape.established && { nodevolumeintents: intents, nodevolumestates: states }),
    pods,
    nodes: named(shape.nodes, names.node, (i) => beating("node", plainNode, i, 1_000 + i, startedAt)),
    leases: named(
      shape.nodes,
      names.node,
      (i) => beating("lease", plainNode, i, 1_000 + i, startedAt),
      `${systemNamespace}/`,
    ),
    csinodes: named(shape.nodes, names.node, (i) =>
      writers.csiNode({ name: names.node(i), uid: uidOf(4, i), version: versionOf(i) }),
    ),
    namespaces: named(names.namespaces, names.namespace, (i) =>
      writers.namespace({ name: names.namespace(i), uid: uidOf(5, i), version: versionOf(i) }),
    ),
    persistentvolumeclaims: inNamespaces(
      podClaims,
      (claim) => `${namespaceOf(claim)}/${names.claim(claim)}`,
      (claim) =>
        pick(
          claim,
          writers.heldClaim,
          writers.ourClaim,
          writers.otherClaim,
        )({
          name: names.claim(claim),
          namespace: namespaceOf(claim),
          uid: uidOf(6, claim),
          version: versionOf(claim),
          volume: names.persistentVolume(claim),
        }),
    ),
    persistentvolumes: named(podClaims, names.persistentVolume, (claim) =>
      pick(
        claim,
        writers.heldVolume,
        writers.ourVolume,
        writers.otherVolume,
      )({
        name: names.claim(claim),
        namespace: namespaceOf(claim),
        uid: uidOf(7, claim),
        version: versionOf(claim),
        volume: names.persistentVolume(claim),
        claimUID: uidOf(6, claim),
      }),
    ),
    // Of each pod that uses claims the first, which is the ordinary one.
    volumeattachments: named(
      attached,
      (user) => `csi-${names.claim(user)}`,
      (user) =>
        writers.attachment({
          name: names.claim(user),
          uid: uidOf(8, user),
          version: versionOf(user),
          volume: names.persistentVolume(user * names.claimsPerPod),
          node: names.nodeOfPod(user * shape.oneInUses),
        }),
    ),
  };
}
