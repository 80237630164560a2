import { resource } from "../../api/names.ts";
import type { NodeVolumeIntent, NodeVolumeSet } from "../../api/types.gen.ts";
import type { Raw } from "../../explain/facts.ts";
import type { Explanation } from "../../explain/finding.ts";
import { type Cluster, requireNode } from "../cluster.ts";
import type { Call, Command } from "../command.ts";
import { CommandError, exitCode, UsageError } from "../exit-code.ts";
import { notFound, volumesNamed } from "../find-intents.ts";
import { didYouMean } from "../nearest.ts";
import { formatOf, serialized } from "../output.ts";
import { typedName } from "../typed-name.ts";
import { explainClaim, explainNode, explainVolumes } from "./explain-others.ts";
import { explainPod } from "./explain-pod.ts";
import {
  type Gathering,
  gatherAttachments,
  gatherClaim,
  gatherClaimsOfSets,
  gatherDrift,
  gatherGranted,
  gatherHolders,
  gathering,
  gatherNode,
} from "./gather.ts";
import { nodeOf, volumesOf } from "./pod-facts.ts";
import { rendered } from "./rendered.ts";

export const explainCommand: Command = {
  name: "explain",
  args: ["pod/NAME|pvc/NAME|node/NAME|SET|VOLUME"],
  summary: "Why a pod, claim, node, set or volume is not ready, and what to do",
  details: [
    "The chain of causes, from the symptom to what must change: since when, who holds it, the next retry, and what to do.",
    "It also explains volumes that kubelet manages, by objects of the API, and by what the node's agent observes.",
    "SET and VOLUME are names; VOLUME may also be an intent, or NODE/VOLUME. set/NAME, volume/NAME, nvi/NAME and nvstate/NAME",
    "name the kind. ✓ done, … waiting, ✗ someone must act, ? unknown.",
  ].join("\n"),
  flags: ["namespace"],
  formats: ["json", "yaml"],
  usesCluster: true,
  examples: [
    "kubectl nvi explain pod/web-0 -n shop",
    "kubectl nvi explain pvc/data",
    "kubectl nvi explain node/worker-1",
    "kubectl nvi explain datasets",
  ],
  words: ["pod/", "pvc/", "node/", "set/"],
  async run(call) {
    const { args, values, context } = call;
    const format = formatOf(values, this.formats);
    const [word] = args;
    if (word === undefined)
      throw new UsageError("explain needs what to explain: pod/NAME, pvc/NAME, node/NAME, a set or a volume");
    const cluster = await context.connect();
    const explanation = await explain(call, cluster, word);
    if (format === "json" || format === "yaml") context.terminal.out(serialized(explanation, format));
    else context.terminal.out(rendered(explanation, context.system.clock.now()));
    return exitCode.done;
  },
};

async function explain({ context }: Call, cluster: Cluster, word: string): Promise<Explanation> {
  const from = gathering(cluster, context.system.clock.now());
  const { kind, name } = typedName(word) ?? { name: word };
  switch (kind) {
    case "pod":
      return ofPod(from, cluster, name);
    case "pvc":
      return ofClaim(from, cluster, name);
    case "node":
      return ofNode(from, cluster, name);
    default:
      return ofVolume(from, cluster, word, name);
  }
}

async function ofPod(from: Gathering, cluster: Cluster, name: string): Promise<Explanation> {
  const { namespace } = cluster;
  const pod = await cluster.client.get<Raw>(resource.pods, { name, namespace });
  if (pod === undefined) throw new CommandError(await noSuch(from, "pod", name, namespace));
  const node = nodeOf(pod);
  const volumes = volumesOf(pod);
  const claims = volumes.flatMap((volume) =>
    volume.kind === "claim" || volume.kind === "ours" ? (volume.claim ?? []) : [],
  );
  await Promise.all([
    from.get("pods", resource.pods, name, namespace),
    from.list("events", resource.events, { namespace, fieldSelector: `involvedObject.name=${name}` }),
    ...claims.map((claim) => gatherClaim(from, namespace, claim)),
    ...(node === undefined ? [] : [gatherNode(from, node)]),
    ...(claims.length > 0 ? [gatherAttachments(from)] : []),
    ...(volumes.some(({ kind }) => kind === "ours")
      ? [from.list("sets", resource.sets), from.get("namespaces", resource.namespaces, namespace)]
      : []),
  ]);
  await gatherGranted(from, pod);
  await gatherClaimsOfSets(from, volumes);
  await gatherHolders(from, node === undefined ? [] : [node]);
  await gatherDrift(from);
  return explainPod(from.facts(), pod);
}

async function ofClaim(from: Gathering, cluster: Cluster, name: string): Promise<Explanation> {
  const { namespace } = cluster;
  const claim = await cluster.client.get<Raw>(resource.claims, { name, namespace });
  if (claim === undefined) throw new CommandError(await noSuch(from, "pvc", name, namespace));
  await Promise.all([
    gatherClaim(from, namespace, name),
    gatherAttachments(from),
    from.list("states", resource.states),
    from.list("sets", resource.sets),
  ]);
  const { pods } = from.facts();
  const nodes = new Set(
    pods.filter((pod) => volumesOf(pod).some((v) => v.kind === "claim" && v.claim === name)).map(nodeOf),
  );
  for (const node of nodes) if (node !== undefined) await gatherNode(from, node);
  await gatherHolders(from, []);
  await gatherDrift(from);
  return explainClaim(from.facts(), claim);
}

async function ofNode(from: Gathering, cluster: Cluster, name: string): Promise<Explanation> {
  await gatherNode(from, name);
  const { intents, states } = from.facts();
  if (intents.length + states.length === 0) await requireNode(cluster, name);
  await gatherAttachments(from);
  await gatherHolders(from, [name]);
  await gatherDrift(from);
  return explainNode(from.facts(), name);
}

async function ofVolume(from: Gathering, cluster: Cluster, word: string, name: string): Promise<Explanation> {
  const { items } = await cluster.client.list<NodeVolumeIntent>(resource.intents);
  const sets = await from.list<NodeVolumeSet>("sets", resource.sets);
  const meant = volumesNamed(word, { intents: items, sets });
  if (meant === undefined) throw new CommandError(notFound(word, { intents: items, sets, nodes: [] }));
  const { intents } = meant;
  const nodes = [...new Set(intents.map(({ spec }) => spec.nodeName))];
  await Promise.all([gatherAttachments(from), ...nodes.slice(0, 20).map((node) => gatherNode(from, node))]);
  await gatherHolders(from, nodes);
  await gatherDrift(from);
  return explainVolumes(from.facts(), name, intents, meant.sets[0]);
}

async function noSuch(from: Gathering, kind: "pod" | "pvc", name: string, namespace: string): Promise<string> {
  const listed =
    kind === "pod"
      ? from.list("pods", resource.pods, { namespace })
      : from.list("claims", resource.claims, { namespace });
  const names = (await listed).map(({ metadata }) => metadata.name);
  return `there is no ${kind} ${JSON.stringify(name)} in namespace ${namespace}${didYouMean(name, names)}`;
}
