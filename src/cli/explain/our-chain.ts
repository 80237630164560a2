import { allowsNamespace } from "../../api/allowed-namespaces.ts";
import { podDriver, setLabelPrefix, systemNamespace } from "../../api/names.ts";
import type { IntentPod, NodeVolumeIntent } from "../../api/types.gen.ts";
import { type Facts, named, type Raw } from "../../explain/facts.ts";
import type { Finding } from "../../explain/finding.ts";
import { intentFindings, reasonFinding } from "../../explain/intent-chain.ts";
import { controllerLog, podStep } from "../../explain/next-steps.ts";
import { nodeFindings } from "../../explain/node-finding.ts";
import { type StepNames, stepNamesOf } from "../../explain/step-names.ts";
import { recordIn } from "../../kube/json.ts";
import { gidOf, lacksGroup, podGroups } from "../../kube/objects/pod-groups.ts";
import { claimFindings, setNotAllowed } from "./claim-chain.ts";
import { setNames } from "./explain-set.ts";
import { registration } from "./kubelet-chain.ts";
import { nodeOf, type PodVolume } from "./pod-facts.ts";

/** PURE. Why a pod does not have a volume that it uses through csi.nodevolume.dev. */
export function ourVolume(
  facts: Facts,
  pod: Raw,
  volume: Extract<PodVolume, { kind: "ours" }>,
  node: string,
): Finding[] {
  const { namespace = "", uid } = pod.metadata;
  const refused = refusal(facts, pod, volume);
  if (refused.length > 0) return refused;
  const intents = facts.intents.filter(({ spec }) => spec.nodeName === node);
  const intent = intentOf(facts, node, { uid, volume: volume.name });
  const notAllowed = intent === undefined ? claimOfSet(facts, volume.set) : [];
  if (notAllowed.length > 0) return notAllowed;
  const early = [...registration(facts, podDriver, node), ...nodeFindings(facts, node, { ours: true })];
  if (intent === undefined && facts.denied.intents !== undefined)
    return [{ state: "unknown", code: "IntentUnknown", text: `you may not read its NodeVolumeIntent on ${node}` }];
  if (intent === undefined) {
    const near = intents.find((one) => isMeant(one, namespace, volume));
    return [
      {
        state: "waiting",
        code: near === undefined ? "NoIntent" : "PodNotNamed",
        text:
          near === undefined
            ? `there is no intent for it on ${node} yet: the controller has not created it`
            : `the intent ${near.metadata.name} does not list the pod yet`,
        todo: `If it stays, check that the controller runs: kubectl -n ${systemNamespace} get pods; ${controllerLog}`,
      },
      ...early.filter(({ state }) => state !== "done").map((finding) => ({ ...finding, also: true as const })),
      ...(near === undefined ? ofSet(facts, volume.set, node) : intentFindings(facts, near)),
    ];
  }
  const group = groupTrouble(pod, volumeOf(facts, namespace, volume, intent));
  return [...podEntry(intent, uid, volume.name), ...intentFindings(facts, intent), ...early, ...group];
}

/** PURE. Why a pod may not have such a volume on any node, whether it has one or not. */
export function refusal(facts: Facts, pod: Raw, volume: Extract<PodVolume, { kind: "ours" }>): Finding[] {
  const { namespace = "" } = pod.metadata;
  if ((volume.set === undefined) === (volume.claim === undefined)) {
    const todo =
      "volumeAttributes needs exactly one of `set` and `persistentVolumeClaim`. A pod's volumes cannot be changed: make it anew.";
    return [
      { state: "blocked", code: "InvalidAttributes", text: "the pod does not name the volume that it uses", todo },
    ];
  }
  if (volume.set !== undefined) return setTrouble(facts, namespace, volume.set);
  const { findings } = claimFindings(facts, { namespace, name: volume.claim ?? "" }, nodeOf(pod) !== undefined);
  return findings.filter(({ state }) => state !== "done");
}

/** Of the pod's claim; or of its set's, which may be of another namespace: the grant names what it is bound to. */
function volumeOf(
  facts: Facts,
  namespace: string,
  { claim }: { readonly claim?: string },
  { spec }: NodeVolumeIntent,
): Raw | undefined {
  if (claim !== undefined) return claimFindings(facts, { namespace, name: claim }, true).volume;
  return named(facts.persistentVolumes, spec.grant?.persistentVolume?.name ?? "");
}

/** Of a claim whose files the pod may not use, though it has the volume. */
function groupTrouble(pod: Raw, volume: Raw | undefined): Finding[] {
  const gid = volume && gidOf(volume);
  if (volume === undefined || gid === undefined || podGroups(recordIn(pod, "spec")).includes(gid)) return [];
  return [{ ...reasonFinding("PodLacksGroup", lacksGroup(volume.metadata.name, gid)), also: true }];
}

/** PURE. The intent that names one pod's volume on a node, or whose agent still has it there. */
export function intentOf(
  { intents }: Facts,
  node: string,
  { uid, volume }: { readonly uid: string | undefined; readonly volume: string },
): NodeVolumeIntent | undefined {
  const isIts = (entry: Pick<IntentPod, "uid" | "volume">) => entry.uid === uid && entry.volume === volume;
  const there = intents.filter(({ spec }) => spec.nodeName === node && spec.mode !== "Observe");
  return there.find(({ spec }) => spec.pods?.some(isIts)) ?? there.find(({ status }) => status?.pods?.some(isIts));
}

function isMeant(
  { metadata, spec }: NodeVolumeIntent,
  namespace: string,
  { set, claim }: { set?: string; claim?: string },
): boolean {
  if (set !== undefined) return metadata.labels?.[setLabelPrefix + set] !== undefined;
  const source = spec.source.persistentVolumeClaim;
  return source?.namespace === namespace && source.claimName === claim;
}

/** PURE. What the node says of one pod's bind, of ours or of kubelet's. */
export function podEntry(intent: NodeVolumeIntent, uid: string | undefined, volume: string): Finding[] {
  const { spec, status = {} } = intent;
  const on = status.waiting?.on;
  const isHere = on?.kind === "Mount" && uid !== undefined && on.name.split("/").includes(uid);
  const names = { ...stepNamesOf(intent), path: isHere ? on.name : undefined, pid: undefined };
  const entry = status.pods?.find((one) => one.uid === uid && one.volume === volume);
  const observed = spec.mode === "Observe";
  if (entry === undefined)
    return observed
      ? []
      : [{ state: "waiting", code: "NotObserved", text: "the node's agent has not reported the pod yet" }];
  // One that is mounted and has a reason is to be unmounted, or is not as its pod needs it.
  if (entry.state === "Mounted" && entry.drift === undefined && entry.reason === undefined)
    return [{ state: "done", code: "Mounted", text: "the mount table shows it in the pod's directory" }];
  if (entry.drift !== undefined)
    return [reasonFinding("Drifted", `in the pod's directory: ${entry.message ?? entry.drift}`, { names })];
  // The intent itself says what kubelet waits for.
  if (observed && entry.state === "Pending" && entry.reason === undefined) return [];
  if (entry.state === "Pending" && entry.reason === undefined)
    return [
      {
        state: "waiting",
        code: "KubeletHasNotAsked",
        text: "kubelet has not requested it yet",
        todo: "kubelet requests it when it starts the pod; kubectl describe pod shows what it waits for.",
      },
    ];
  if (entry.reason !== undefined) return [ofPodsDirectory(entry.reason, entry.message ?? entry.reason, names)];
  return [{ state: "waiting", code: entry.state, text: `in the pod's directory it is ${entry.state}` }];
}

function ofPodsDirectory(reason: string, text: string, names: StepNames): Finding {
  const todo = podStep(reason, names);
  return { ...reasonFinding(reason, text, { names }), ...(todo !== undefined && { todo }) };
}

function setTrouble(facts: Facts, namespace: string, name: string): Finding[] {
  if (facts.denied.sets !== undefined) return [];
  const set = named(facts.sets, name);
  if (set === undefined) {
    const todo = `Create it, or correct volumeAttributes.set of the pod: kubectl get nodevolumesets`;
    return [{ state: "blocked", code: "SetNotFound", text: `there is no NodeVolumeSet ${name}`, todo }];
  }
  const allowed = set.spec.allowedNamespaces;
  const { labels } = named(facts.namespaces, namespace)?.metadata ?? {};
  const areUnknown = allowed?.selector !== undefined && labels === undefined;
  if (areUnknown || allowsNamespace(allowed, namespace, labels)) return [];
  return [
    {
      state: "blocked",
      code: "NamespaceNotAllowed",
      text: `pods of namespace ${namespace} may not use the set ${name}`,
      on: { kind: "NodeVolumeSet", name },
      todo: `Let the set's owner add the namespace to spec.allowedNamespaces: kubectl get nvs ${name} -o jsonpath='{.spec.allowedNamespaces}'`,
    },
  ];
}

/** PURE. That the claim of a set does not allow the set: no pod gets the volume by it anew. */
export function claimOfSet(facts: Facts, name: string | undefined): Finding[] {
  const set = named(facts.sets, name ?? "");
  const source = set?.spec.volume.source.persistentVolumeClaim;
  const claim = source && named(facts.claims, source.claimName, source.namespace);
  return set === undefined || claim === undefined ? [] : setNotAllowed(claim, set);
}

/** What the set says of the node, where no intent says more. */
function ofSet(facts: Facts, name: string | undefined, node: string): Finding[] {
  const set = named(facts.sets, name ?? "");
  const failing = set?.status?.failing?.find((entry) => entry.node === node);
  if (set === undefined || failing === undefined) return [];
  return [
    reasonFinding(failing.reason, `set ${name} on ${node}: ${failing.message ?? failing.reason}`, {
      names: { ...setNames(set), node },
    }),
  ];
}
