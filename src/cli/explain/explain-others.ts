import { findCondition } from "../../api/conditions.ts";
import type { NodeVolumeIntent, NodeVolumeSet, Orphan } from "../../api/types.gen.ts";
import { counted } from "../../api/values/listed.ts";
import { shellWord } from "../../api/values/printable.ts";
import { attachmentFacts, attachmentFindings } from "../../explain/attachment.ts";
import { type Facts, named, type Raw } from "../../explain/facts.ts";
import type { Chain, Explanation, Finding } from "../../explain/finding.ts";
import { intentFindings } from "../../explain/intent-chain.ts";
import { nodeFindings } from "../../explain/node-finding.ts";
import { repeatedDrift } from "../../explain/repeated-drift.ts";
import { arrayIn, recordIn, stringIn } from "../../kube/json.ts";
import { claimFindings, keptFromPods, setNotAllowed } from "./claim-chain.ts";
import { setFindings } from "./explain-set.ts";
import { nodeOf, phaseOf, podsOf } from "./pod-facts.ts";

/** PURE. Where a claim stands: its volume, who uses it, where it is attached, and what is left of it. */
export function explainClaim(facts: Facts, claim: Raw): Explanation {
  const { namespace = "", name } = claim.metadata;
  const users = podsOf(facts, namespace, name);
  const { findings, volume } = claimFindings(
    facts,
    { namespace, name },
    users.some((pod) => nodeOf(pod) !== undefined),
  );
  const volumeName = volume?.metadata.name;
  const handle = stringIn(recordIn(recordIn(volume, "spec"), "csi"), "volumeHandle");
  const names = [volumeName, handle === undefined ? undefined : facts.sha256(handle)].filter(
    (one) => one !== undefined,
  );
  const attachments = facts.volumeAttachments
    .map(attachmentFacts)
    .filter((a) => a.persistentVolume === volumeName && volumeName !== undefined);
  const intents = facts.intents.filter((intent) => isOfClaim(intent, namespace, name, volumeName));
  const who: Finding[] = users.map((pod) => ({
    state: "done",
    code: "UsedByPods",
    text: `pod ${namespace}/${pod.metadata.name} uses it, ${phaseOf(pod)}${nodeOf(pod) === undefined ? ", without a node" : ` on ${nodeOf(pod)}`}`,
  }));
  const nobody: Finding = { state: "done", code: "Unused", text: "no pod uses it" };
  const chains: Chain[] = [
    {
      title: `claim ${namespace}/${name}`,
      findings: [
        ...findings,
        ...keptFromPods(claim),
        ...facts.sets.flatMap((set) => setNotAllowed(claim, set)),
        ...(who.length > 0 || facts.denied.pods !== undefined ? who : [nobody]),
      ],
    },
    ...attachments.map((a) => ({ title: `attachment to ${a.node}`, findings: attachmentFindings(facts, a) })),
    ...intents.map((intent) => intentChain(facts, intent)),
    ...orphanChains(facts, (orphan) => isOfVolume(orphan, names, intents)),
  ];
  const phase = stringIn(recordIn(claim, "status"), "phase") ?? "Pending";
  return {
    subject: { kind: "PersistentVolumeClaim", namespace, name },
    summary: `claim ${namespace}/${name} is ${phase}`,
    chains,
    notRead: Object.values(facts.denied),
  };
}

function isOfClaim(
  { spec }: NodeVolumeIntent,
  namespace: string,
  name: string,
  volumeName: string | undefined,
): boolean {
  const source = spec.source.persistentVolumeClaim;
  if (source?.namespace === namespace && source.claimName === name) return true;
  return (
    volumeName !== undefined &&
    (spec.observed?.volumeName === volumeName || spec.grant?.persistentVolume?.name === volumeName)
  );
}

/** By its intent, or by its path: kubelet's have the PersistentVolume's name, or the hash of the volume's handle. */
function isOfVolume({ path, volume }: Orphan, names: readonly string[], intents: readonly NodeVolumeIntent[]): boolean {
  if (volume !== undefined && (names.includes(volume) || intents.some(({ metadata }) => metadata.name === volume)))
    return true;
  return path.split("/").some((segment) => names.includes(segment));
}

/** PURE. One volume on one node. kubelet never finds what it staged for a pod that is gone: that is said, too. */
function intentChain(facts: Facts, intent: NodeVolumeIntent): Chain {
  const { metadata, spec, status = {} } = intent;
  const staged = status.stagingPath === undefined ? undefined : shellWord(status.stagingPath);
  const findings = intentFindings(facts, intent);
  if (spec.mode === "Observe" && (spec.pods ?? []).length === 0 && status.inUse === true)
    findings.push({
      state: "blocked",
      code: "StagedWithoutPod",
      text: `it is still staged on ${spec.nodeName}, and no pod there uses it: kubelet has lost track of it`,
      todo: `On the node: umount ${staged ?? "its globalmount"}, once nothing uses it; kubelet never does that for a pod that is gone.`,
    });
  return { title: `volume ${spec.volumeName} on ${spec.nodeName} (${metadata.name})`, findings };
}

function orphanChains({ states }: Facts, isMeant: (orphan: Orphan) => boolean): Chain[] {
  return states.flatMap(({ metadata, status }) =>
    (status?.orphans ?? []).filter(isMeant).map((orphan) => orphanChain(metadata.name, orphan)),
  );
}

/** PURE. What nobody asks for any more, with the evidence. */
export function orphanChain(
  node: string,
  { path, kind, volume, source, since, reason, message, remedy }: Orphan,
): Chain {
  const what = `${kind ?? "Mount"}${source === undefined ? "" : ` of ${source}`}${volume === undefined ? "" : `, for ${volume}`}`;
  return {
    title: `orphan ${path} on ${node}`,
    findings: [
      {
        state: "blocked",
        code: reason,
        text: `it is no longer needed: ${what}${message === undefined ? "" : `; ${message}`}`,
        ...(since !== undefined && { since }),
        ...(remedy !== undefined && { todo: remedy }),
      },
    ],
  };
}

/**
 * PURE. Volumes of a name, one or on many nodes; what is not well comes first.
 * @param set the set of that name, which says why where no intent can
 */
export function explainVolumes(
  facts: Facts,
  word: string,
  intents: readonly NodeVolumeIntent[],
  set?: NodeVolumeSet,
): Explanation {
  const isWell = ({ status }: NodeVolumeIntent) =>
    findCondition(status?.conditions, "Ready")?.status === "True" ? 1 : 0;
  const drifting = new Set(intents.filter((intent) => repeatedDrift(facts, intent).length > 0));
  const isCalm = (intent: NodeVolumeIntent) => (drifting.has(intent) ? 0 : 1);
  const sorted = [...intents].sort(
    (a, b) => isWell(a) - isWell(b) || isCalm(a) - isCalm(b) || (a.metadata.name < b.metadata.name ? -1 : 1),
  );
  const names = new Set(intents.map(({ metadata }) => metadata.name));
  const said = set === undefined ? [] : setFindings(set, intents);
  return {
    subject: { kind: set === undefined ? "NodeVolumeIntent" : "NodeVolumeSet", name: word },
    summary: `${word}: ${readiness(intents.filter((intent) => isWell(intent) === 1).length, intents.length, set)}`,
    chains: [
      ...(said.length === 0 ? [] : [{ title: `set ${word}`, findings: said }]),
      ...sorted.map((intent) => intentChain(facts, intent)),
      ...orphanChains(facts, ({ volume }) => volume !== undefined && names.has(volume)),
    ],
    notRead: Object.values(facts.denied),
  };
}

function readiness(well: number, there: number, set: NodeVolumeSet | undefined): string {
  const all = Math.max(there, set?.status?.desired ?? 0);
  if (all === 0) return "no node has it";
  return `ready on ${well} of ${all} ${all === 1 ? "node" : "nodes"}`;
}

/** PURE. A node as a whole: itself, its agent, its drivers, what is not well there, and what nobody asks for. */
export function explainNode(facts: Facts, name: string): Explanation {
  const state = named(facts.states, name);
  const own = nodeFindings(facts, name, { ours: true });
  const intents = facts.intents.filter(({ spec }) => spec.nodeName === name);
  const unwell = intents.filter(({ status }) => findCondition(status?.conditions, "Ready")?.status !== "True");
  const drifting = intents.filter((intent) => !unwell.includes(intent) && repeatedDrift(facts, intent).length > 0);
  const drained = findCondition(state?.status?.conditions, "Drained");
  const drivers = arrayIn(recordIn(named(facts.csiNodes, name), "spec"), "drivers").map(
    (driver) => stringIn(driver, "name") ?? "",
  );
  const agent = state?.status?.agent;
  const findings = [...own];
  const add = (code: string, text: string) => findings.push({ state: "done", code, text });
  if (own.length === 0 && agent !== undefined) add("Live", `its agent runs, version ${agent.version}`);
  if (facts.denied.csiNodes === undefined)
    add("Drivers", drivers.length === 0 ? "no CSI driver is registered" : `CSI drivers: ${drivers.join(", ")}`);
  if (drained?.status === "True") add("Drained", "it is drained: nothing of ours is in use there");
  else if (drained !== undefined) add("Drained", `it is not drained: ${drained.message}`);
  return {
    subject: { kind: "Node", name },
    summary: `node ${name}: ${counted(intents.length, "volume")}, ${intents.length - unwell.length} ready, ${counted(state?.status?.orphaned ?? 0, "orphan")}`,
    chains: [
      { title: "the node", findings },
      ...[...unwell, ...drifting].map((intent) => intentChain(facts, intent)),
      ...(state?.status?.orphans ?? []).map((orphan) => orphanChain(name, orphan)),
    ],
    notRead: Object.values(facts.denied),
  };
}
