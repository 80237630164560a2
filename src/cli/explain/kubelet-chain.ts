import { attachmentFacts, attachmentFindings } from "../../explain/attachment.ts";
import { type Facts, named, type Raw } from "../../explain/facts.ts";
import type { Finding } from "../../explain/finding.ts";
import { arrayIn, recordIn, stringIn } from "../../kube/json.ts";
import { podsOf } from "./pod-facts.ts";

/** The attach/detach controller gives a volume of one of these modes to one node at a time (behaviour 90). */
const manyNodes = new Set(["ReadWriteMany", "ReadOnlyMany"]);

/**
 * PURE. Whether a PersistentVolume can come to a node: its driver is registered there, it is attached there, and nobody
 * elsewhere holds it. For volumes that kubelet manages, from the API's objects alone.
 */
export function wayToNode(facts: Facts, volume: Raw, node: string): Finding[] {
  const spec = recordIn(volume, "spec");
  const driver = stringIn(recordIn(spec, "csi"), "driver");
  if (driver === undefined) return [];
  return [...registration(facts, driver, node), ...attachment(facts, volume, driver, node)];
}

/** PURE. Whether a driver is registered on a node: its CSINode names it (behaviour 116). */
export function registration(facts: Facts, driver: string, node: string): Finding[] {
  if (facts.denied.csiNodes !== undefined) return [];
  const csiNode = named(facts.csiNodes, node);
  const names = arrayIn(recordIn(csiNode, "spec"), "drivers").map((entry) => stringIn(entry, "name"));
  if (names.includes(driver))
    return [{ state: "done", code: "Registered", text: `its driver ${driver} is registered on ${node}` }];
  const others = names.length === 0 ? "no driver is" : `there are ${names.join(", ")}`;
  return [
    {
      state: "waiting",
      code: "DriverNotRegistered",
      text: `the CSI driver ${driver} is not registered on ${node}: ${others}`,
      on: { kind: "CSINode", name: node },
      todo: `Does the driver's pod run on ${node}, and its node-driver-registrar? kubectl get pods -A -o wide --field-selector spec.nodeName=${node}`,
    },
  ];
}

function attachment(facts: Facts, volume: Raw, driver: string, node: string): Finding[] {
  if (facts.denied.volumeAttachments !== undefined) return [];
  const csiDriver = named(facts.csiDrivers, driver);
  if (recordIn(csiDriver, "spec")?.["attachRequired"] === false) return [];
  const all = facts.volumeAttachments.map(attachmentFacts).filter((a) => a.persistentVolume === volume.metadata.name);
  const here = all.find((a) => a.node === node);
  if (here !== undefined) return attachmentFindings(facts, here);
  const modes = arrayIn(recordIn(volume, "spec"), "accessModes").map(String);
  const elsewhere = all.filter((a) => a.node !== node);
  if (elsewhere.length > 0 && !modes.some((mode) => manyNodes.has(mode))) {
    return elsewhere.flatMap((held) => multiAttach(facts, volume, held, node));
  }
  return [
    {
      state: "waiting",
      code: "WaitingForAttach",
      text: `its attachment to ${node} has not been requested yet: there is no VolumeAttachment`,
      todo: "If it stays: does kube-controller-manager run? Its attach/detach controller makes the VolumeAttachment.",
    },
  ];
}

/** Whom the other node has it for, as far as pods tell. */
function multiAttach(facts: Facts, volume: Raw, held: ReturnType<typeof attachmentFacts>, node: string): Finding[] {
  const { name, attached, deleting } = held;
  const claim = recordIn(recordIn(volume, "spec"), "claimRef");
  const users = podsOf(facts, stringIn(claim, "namespace") ?? "", stringIn(claim, "name") ?? "", held.node);
  const { creationTimestamp } = held.raw.metadata;
  const found: Finding[] = [
    {
      state: "waiting",
      code: "MultiAttach",
      text: `it is ${deleting ? "being detached from" : attached ? "attached to" : "promised to"} ${held.node} (VolumeAttachment ${name}), and cannot be attached to ${node} as well`,
      ...(creationTimestamp !== undefined && { since: creationTimestamp }),
      on: { kind: "VolumeAttachment", name, node: held.node },
    },
    ...(deleting ? attachmentFindings(facts, held) : []),
    ...users.map((pod) => usedBy(pod, held.node)),
  ];
  if (users.length === 0 && !deleting && facts.denied.pods === undefined)
    found.push({
      state: "waiting",
      code: "StillAttached",
      text: `no pod on ${held.node} uses it any more, and it is still attached there`,
      todo: `kubelet has not reported yet that it released it: kubectl get node ${held.node} -o jsonpath='{.status.volumesInUse}'`,
    });
  return found;
}

function usedBy({ metadata }: Raw, node: string): Finding {
  const { namespace = "", name, deletionTimestamp, creationTimestamp } = metadata;
  const isEnding = deletionTimestamp !== undefined;
  const since = deletionTimestamp ?? creationTimestamp;
  return {
    state: "waiting",
    code: "UsedByPods",
    text: `pod ${namespace}/${name} on ${node} ${isEnding ? "is ending, and still uses it" : "uses it"}`,
    ...(since !== undefined && { since }),
    on: { kind: "Pod", namespace, name, node },
    todo: isEnding
      ? `It waits for that pod's end: kubectl -n ${namespace} describe pod ${name}, and is node ${node} alive?`
      : `Only one node can have it. Run both pods on one node, or end that one: kubectl -n ${namespace} delete pod ${name}`,
  };
}
