import { allowsSet, notAllowedMessage } from "../../api/allowed-set.ts";
import { label } from "../../api/names.ts";
import type { NodeVolumeSet } from "../../api/types.gen.ts";
import { shellWord } from "../../api/values/printable.ts";
import { eventsOf, type Facts, named, type Raw, timeOf } from "../../explain/facts.ts";
import type { Finding } from "../../explain/finding.ts";
import { reasonFinding } from "../../explain/intent-chain.ts";
import { recordIn, stringIn } from "../../kube/json.ts";
import { setNames } from "./explain-set.ts";

/** The causes of a claim's state. */
export interface ClaimAnswer {
  readonly findings: readonly Finding[];
  /** Once it is bound, and its volume is there. */
  readonly volume?: Raw;
}

/** PURE. Whether a claim has a volume, and if not why not. @param scheduled whether the pod that asks has a node */
export function claimFindings(
  facts: Facts,
  at: { readonly namespace: string; readonly name: string },
  scheduled: boolean,
): ClaimAnswer {
  const claim = named(facts.claims, at.name, at.namespace);
  const called = `claim ${at.namespace}/${at.name}`;
  if (claim === undefined) {
    if (facts.denied.claims !== undefined) return { findings: [] };
    const todo = `Create it, or correct the name in the pod: kubectl -n ${at.namespace} get pvc`;
    return { findings: [{ state: "blocked", code: "ClaimNotFound", text: `there is no ${called}`, todo }] };
  }
  const status = recordIn(claim, "status");
  const phase = stringIn(status, "phase") ?? "Pending";
  const volumeName = stringIn(recordIn(claim, "spec"), "volumeName");
  const since = claim.metadata.deletionTimestamp;
  const leaving = `${called} is being deleted; present users may keep it, no new ones get it`;
  const after = (finding: Finding) =>
    since === undefined ? [finding] : [reasonFinding("ClaimDeleting", leaving, { since }), finding];
  if (phase === "Lost")
    return {
      findings: after(reasonFinding("ClaimLost", `${called} has lost its PersistentVolume ${volumeName ?? ""}`)),
    };
  if (phase !== "Bound" || volumeName === undefined) return { findings: after(unbound(facts, claim, scheduled)) };
  const volume = named(facts.persistentVolumes, volumeName);
  if (volume === undefined && facts.denied.persistentVolumes === undefined) {
    const text = `PersistentVolume ${volumeName} of ${called} is not there`;
    return { findings: after(reasonFinding("PersistentVolumeNotFound", text)) };
  }
  const text = `${called} is bound to PersistentVolume ${volumeName}`;
  return { findings: after({ state: "done", code: "Bound", text }), ...(volume !== undefined && { volume }) };
}

function unbound(facts: Facts, claim: Raw, scheduled: boolean): Finding {
  const { namespace = "", name, creationTimestamp } = claim.metadata;
  const base = {
    state: "waiting" as const,
    code: "ClaimNotBound",
    on: { kind: "PersistentVolumeClaim", namespace, name },
    ...(creationTimestamp !== undefined && { since: creationTimestamp }),
  };
  const called = `claim ${namespace}/${name} is not bound`;
  const blocked = (why: string, todo: string): Finding => ({
    ...base,
    state: "blocked",
    text: `${called}: ${why}`,
    todo,
  });
  const className = stringIn(recordIn(claim, "spec"), "storageClassName");
  const wanted = stringIn(recordIn(claim, "spec"), "volumeName");
  if (wanted !== undefined && wanted !== "") {
    const todo = `kubectl get pv ${shellWord(wanted) ?? "NAME"}: is it there, Available, of the same class and large enough, and its claimRef nobody else's?`;
    return blocked(`it requests PersistentVolume ${wanted}, which it does not have`, todo);
  }
  if (className === undefined || className === "") {
    const todo =
      className === ""
        ? 'Its class is "", so nothing makes a volume for it: make a PersistentVolume without a class that fits.'
        : "Name a class in it, or mark one as default (kubectl get storageclass); or make a PersistentVolume that fits.";
    return blocked("it has no StorageClass, and no PersistentVolume fits", todo);
  }
  const storageClass = named(facts.storageClasses, className);
  if (storageClass === undefined && facts.denied.storageClasses === undefined) {
    const todo = `Create the class, or a PersistentVolume of it; a claim's class cannot be changed. Those there are: kubectl get storageclass`;
    return blocked(`there is no StorageClass ${className}`, todo);
  }
  const provisioner = stringIn(storageClass, "provisioner") ?? "its provisioner";
  const failure = eventsOf(facts, claim).find((event) => stringIn(event, "type") === "Warning");
  if (failure !== undefined) {
    return {
      ...base,
      text: `${called}: ${provisioner} has failed to make its volume`,
      quote: stringIn(failure, "message") ?? "",
      since: timeOf(failure),
      todo: `The message is its own; it is retried. The log of ${provisioner} has more.`,
    };
  }
  const later = stringIn(storageClass, "volumeBindingMode") === "WaitForFirstConsumer";
  if (later && !scheduled) {
    const todo = "Nothing to do with the claim: it is bound once a pod that uses it has a node. Why has the pod none?";
    return { ...base, text: `${called}: class ${className} waits until a pod that uses it is scheduled`, todo };
  }
  if (provisioner === "kubernetes.io/no-provisioner") {
    const todo = `Make a PersistentVolume of class ${className} that fits in size, access modes${later ? " and node" : ""}.`;
    return blocked(`nothing makes volumes of class ${className}, and none fits`, todo);
  }
  const todo = `If it stays: does ${provisioner} run? Its log, and kubectl -n ${namespace} describe pvc ${name}.`;
  return { ...base, text: `${called}: ${provisioner} has not made its volume yet`, todo };
}

/** PURE. That a set asks for a claim which does not allow it. */
export function setNotAllowed(claim: Raw, set: NodeVolumeSet): Finding[] {
  const { namespace = "", name, labels } = claim.metadata;
  const source = set.spec.volume.source.persistentVolumeClaim;
  const isMeant = source?.namespace === namespace && source.claimName === name;
  if (!isMeant || allowsSet(labels, set.metadata.name)) return [];
  const message = notAllowedMessage({ namespace, name }, set.metadata.name);
  return [reasonFinding("ClaimNotAllowed", message, { names: setNames(set) })];
}

/** PURE. That a claim is kept from pods, because node volumes have it or shall. */
export function keptFromPods(claim: Raw): Finding[] {
  const labels = claim.metadata.labels ?? {};
  const called = `claim ${claim.metadata.namespace}/${claim.metadata.name}`;
  const [key, why] =
    labels[label.held] !== undefined
      ? [label.held, "a node volume has it"]
      : labels[label.reserved] !== undefined
        ? [label.reserved, "its owner reserves it for node volumes"]
        : [];
  if (key === undefined) return [];
  const todo =
    "Pods use it through the driver csi.nodevolume.dev (volumeAttributes: persistentVolumeClaim), and do not name the claim themselves.";
  return [
    { ...reasonFinding("SharedWithKubelet", `${called} cannot be referenced by pods: ${why} (label ${key})`), todo },
  ];
}
