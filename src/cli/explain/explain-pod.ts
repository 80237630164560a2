import type { NodeVolumeIntent } from "../../api/types.gen.ts";
import { conditionOf, type Facts, named, type Raw } from "../../explain/facts.ts";
import type { Chain, Explanation, Finding } from "../../explain/finding.ts";
import { intentFindings, reasonFinding } from "../../explain/intent-chain.ts";
import { nodeFindings } from "../../explain/node-finding.ts";
import { arrayIn, recordIn, stringIn } from "../../kube/json.ts";
import { claimFindings, keptFromPods } from "./claim-chain.ts";
import { orphanChain } from "./explain-others.ts";
import { registration, wayToNode } from "./kubelet-chain.ts";
import { failureEvent, isSymptom } from "./kubelet-events.ts";
import { claimOfSet, intentOf, ourVolume, podEntry, refusal } from "./our-chain.ts";
import { hasEnded, hasStarted, nodeOf, ownerProblem, type PodVolume, phaseOf, volumesOf } from "./pod-facts.ts";

/** PURE. Why a pod does not have its volumes, volume by volume. */
export function explainPod(facts: Facts, pod: Raw): Explanation {
  const { namespace = "", name } = pod.metadata;
  const node = nodeOf(pod);
  const own = podFindings(facts, pod, node);
  // Most pods have an emptyDir, or a token: they are worth a line only when kubelet says that one fails.
  const told = hasEnded(pod)
    ? []
    : volumesOf(pod).filter(({ kind, name: called }) => kind !== "other" || symptom(facts, pod, [called]).length > 0);
  const chains = [
    ...(own.length === 0 ? [] : [{ title: "the pod", findings: own }]),
    ...told.map((volume) => volumeChain(facts, pod, volume, node)),
    ...(hasEnded(pod) ? keptOf(facts, pod, node) : []),
    ...leftOf(facts, pod, node),
  ];
  const open = chains.filter(({ findings }) => findings.some(({ state }) => state !== "done"));
  const place = node === undefined ? "has no node yet" : `is on ${node}`;
  const state = pod.metadata.deletionTimestamp === undefined ? phaseOf(pod) : `${phaseOf(pod)} and being deleted`;
  const waiting =
    open.length === 0 ? "no problem with its volumes" : `${open.map(({ title }) => title).join(", ")}: see below`;
  return {
    subject: { kind: "Pod", namespace, name },
    summary: `pod ${namespace}/${name} ${place}, ${state}: ${waiting}`,
    chains,
    notRead: Object.values(facts.denied),
  };
}

/** Node volumes that the agent still has in the directory of a pod which has ended, and why. */
function keptOf(facts: Facts, pod: Raw, node: string | undefined): Chain[] {
  return volumesOf(pod).flatMap((volume) => {
    if (volume.kind !== "ours" || node === undefined) return [];
    const intent = intentOf(facts, node, { uid: pod.metadata.uid, volume: volume.name });
    if (intent === undefined) return [];
    const entry = podEntry(intent, pod.metadata.uid, volume.name);
    if (entry.every(({ state }) => state === "done")) return [];
    const findings = [...symptom(facts, pod, [volume.name]), ...entry, ...intentFindings(facts, intent)];
    return [{ title: titleOf(volume), findings: inOrder(findings, node) }];
  });
}

/** What its node has not got rid of, though it has ended. */
function leftOf(facts: Facts, pod: Raw, node: string | undefined): Chain[] {
  const orphans = named(facts.states, node ?? "")?.status?.orphans ?? [];
  const uid = pod.metadata.uid ?? "";
  return orphans
    .filter(({ path }) => uid !== "" && path.split("/").includes(uid))
    .map((orphan) => orphanChain(node ?? "", orphan));
}

/** What keeps the pod as a whole from starting. */
function podFindings(facts: Facts, pod: Raw, node: string | undefined): Finding[] {
  if (hasEnded(pod)) {
    const then = pod.metadata.deletionTimestamp === undefined ? "" : "; it is gone once kubelet has unmounted them";
    return [{ state: "done", code: phaseOf(pod), text: `it has ended, so its volumes are released${then}` }];
  }
  if (node !== undefined) return hasStarted(pod) ? [] : nodeFindings(facts, node, { ours: false });
  const gates = arrayIn(recordIn(pod, "spec"), "schedulingGates").map((gate) => stringIn(gate, "name") ?? "");
  if (gates.length > 0) return gatedBy(facts, pod, gates);
  const scheduled = conditionOf(pod, "PodScheduled");
  const message = stringIn(scheduled, "message");
  const since = stringIn(scheduled, "lastTransitionTime") ?? pod.metadata.creationTimestamp;
  return [
    {
      state: "waiting",
      code: stringIn(scheduled, "reason") ?? "NotScheduled",
      text: "no node was found for it",
      ...(message !== undefined && { quote: message }),
      ...(since !== undefined && { since }),
      todo: "The message is the scheduler's. Volumes are mounted only once the pod has a node.",
    },
  ];
}

/** That it waits at gates, and why at ours, where none of its volumes says so. */
function gatedBy(facts: Facts, pod: Raw, gates: readonly string[]): Finding[] {
  const since = pod.metadata.creationTimestamp;
  const ours = gates.filter((gate) => gate.startsWith("nodevolume.dev/"));
  const shown = ours.length > 0 ? conditionOf(pod, "nodevolume.dev/VolumesReady") : undefined;
  const reason = stringIn(shown, "status") === "True" ? undefined : stringIn(shown, "reason");
  const ofVolumes = volumesOf(pod).flatMap((volume) => (volume.kind === "ours" ? refusedYet(facts, pod, volume) : []));
  const todo = ours.includes("nodevolume.dev/volumes")
    ? "The gate nodevolume.dev/volumes is removed once it is known which nodes can provide the pod's volumes (docs/readiness.md)."
    : ours.length > 0
      ? `The gate ${ours[0]} is removed when the set has a node for it: kubectl nvi volumes -l set.${ours[0]}`
      : `The component that set the gate removes it: ${gates.join(", ")}.`;
  const gated: Finding = {
    state: "waiting",
    code: "PodGated",
    text: `it is held back from scheduling by ${gates.join(", ")}`,
    ...(since !== undefined && { since }),
    ...(reason === undefined && ofVolumes.length === 0 && { todo }),
  };
  if (reason === undefined || ofVolumes.some(({ code }) => code === reason)) return [gated];
  const cause = reasonFinding(reason, stringIn(shown, "message") ?? reason, {
    since: stringIn(shown, "lastTransitionTime"),
    // The claim of a set may be of another namespace than the pod.
    names: reason === "ClaimNotAllowed" ? {} : { namespace: pod.metadata.namespace },
  });
  return [gated, cause.state === "done" ? { ...cause, state: "waiting", todo } : cause];
}

/** Why a pod that has no node yet gets such a volume on none. */
function refusedYet(facts: Facts, pod: Raw, volume: Extract<PodVolume, { kind: "ours" }>): Finding[] {
  return [...refusal(facts, pod, volume), ...claimOfSet(facts, volume.set)];
}

function volumeChain(facts: Facts, pod: Raw, volume: PodVolume, node: string | undefined): Chain {
  switch (volume.kind) {
    case "claim": {
      const title = `volume ${volume.name} (claim ${volume.claim})`;
      return { title, findings: inOrder(ofClaim(facts, pod, volume, node), node) };
    }
    case "ours": {
      const findings =
        node === undefined
          ? refusedYet(facts, pod, volume)
          : [...symptom(facts, pod, [volume.name]), ...ourVolume(facts, pod, volume, node)];
      return { title: titleOf(volume), findings: inOrder(findings, node) };
    }
    case "inline": {
      const findings =
        node === undefined
          ? []
          : [...registration(facts, volume.driver, node), ...mounted(facts, pod, volume.name, [volume.name])];
      return { title: `volume ${volume.name} (driver ${volume.driver})`, findings: inOrder(findings, node) };
    }
    case "other":
      return {
        title: `volume ${volume.name} (${volume.type})`,
        findings: inOrder(mounted(facts, pod, volume.name, [volume.name]), node),
      };
  }
}

function titleOf({ name, set, claim }: Extract<PodVolume, { kind: "ours" }>): string {
  const from = set === undefined ? `claim ${claim ?? "?"}` : `set ${set}`;
  return `volume ${name} (${from}, through csi.nodevolume.dev)`;
}

function ofClaim(
  facts: Facts,
  pod: Raw,
  asked: Extract<PodVolume, { kind: "claim" }>,
  node: string | undefined,
): Finding[] {
  const { namespace = "" } = pod.metadata;
  const { name, claim } = asked;
  const stranger = ownerProblem(facts, pod, asked);
  if (stranger.length > 0) return [...symptom(facts, pod, [name]), ...stranger];
  const { findings, volume } = claimFindings(facts, { namespace, name: claim }, node !== undefined);
  const object = named(facts.claims, claim, namespace);
  const kept = object === undefined || hasStarted(pod) ? [] : keptFromPods(object);
  if (volume === undefined || node === undefined) return [...findings, ...kept];
  const way = wayToNode(facts, volume, node);
  const names = [name, volume.metadata.name];
  // What the agent observes is the same seen from the node as long as the volume cannot come there: it is said once.
  const isThere = way.every(({ state }) => state === "done");
  const after = isThere ? mounted(facts, pod, name, names) : symptom(facts, pod, names);
  return [...findings, ...kept, ...way, ...after];
}

/** Whether kubelet has mounted it, by what it says, and by what the node's agent sees. */
function mounted(facts: Facts, pod: Raw, name: string, names: readonly string[]): Finding[] {
  const intent = observedFor(facts, pod, name);
  const seen =
    intent === undefined ? [] : [...podEntry(intent, pod.metadata.uid, name), ...intentFindings(facts, intent)];
  const text = "the pod's containers were started, so it was mounted";
  const started: Finding[] = hasStarted(pod) ? [{ state: "done", code: "Started", text }] : [];
  return [...started, ...symptom(facts, pod, names), ...seen];
}

/** Of a pod that runs, old words say nothing any more; of one that is ending they may say why it does not end. */
function symptom(facts: Facts, pod: Raw, names: readonly string[]): Finding[] {
  const isOver = hasStarted(pod) && pod.metadata.deletionTimestamp === undefined;
  const event = isOver ? undefined : failureEvent(facts, pod, names);
  return event === undefined ? [] : [event];
}

/** The intent by which a volume that kubelet manages is watched, if there is one. */
function observedFor(facts: Facts, pod: Raw, volume: string): NodeVolumeIntent | undefined {
  return facts.intents.find(
    ({ spec }) =>
      spec.mode === "Observe" && spec.pods?.some((entry) => entry.uid === pod.metadata.uid && entry.volume === volume),
  );
}

const noCause: ReadonlySet<string> = new Set(["Observed", "WaitingForKubelet"]);

/** What is done, then symptoms, then causes; of what is told twice the last one, which is nearer to the cause. */
function inOrder(all: readonly Finding[], node: string | undefined): Finding[] {
  const findings = all.filter(({ text }, at) => !all.slice(at + 1).some((later) => later.text === text));
  const done = findings.filter(({ state }) => state === "done");
  const open = findings.filter(({ state }) => state !== "done");
  const said = open.filter(isSymptom);
  const causes = open.filter((finding) => !isSymptom(finding));
  // Whoever names the cause says what to do about it; that kubelet has not mounted it yet is none.
  const symptoms = causes.every(({ code }) => noCause.has(code)) ? said : said.map(({ todo: _, ...rest }) => rest);
  if (open.length > 0 || done.some(({ code }) => code === "Started" || code === "Mounted"))
    return [...done, ...symptoms, ...causes];
  if (node === undefined)
    return [...done, { state: "waiting", code: "NoNodeYet", text: "it is mounted once the pod has a node" }];
  const text = "the API shows no problem; kubelet has not reported a failure";
  return [...done, { state: "unknown", code: "NotToldYet", text }];
}
