import { findCondition } from "../../api/conditions.ts";
import type { KubeObject } from "../../api/meta.ts";
import { label, resource } from "../../api/names.ts";
import type { NodeVolumeIntent } from "../../api/types.gen.ts";
import { mountCounts } from "../../explain/intent-chain.ts";
import { age } from "../age.ts";
import { type Cluster, follow, requireNode, type Selection } from "../cluster.ts";
import type { Call, Command } from "../command.ts";
import { exitCode, UsageError } from "../exit-code.ts";
import { inOrder } from "../find-intents.ts";
import { formatOf, listOf, namesOf, serialized } from "../output.ts";
import { type Column, table } from "../table.ts";
import { ending } from "./wait-until.ts";

/** PURE. The columns of `kubectl get nvi`, and pods. */
function volumeColumns(now: number): Column<NodeVolumeIntent>[] {
  return [
    { name: "NODE", of: ({ spec }) => spec.nodeName },
    { name: "SET", of: ({ metadata }) => metadata.labels?.[label.set] },
    { name: "VOLUME", of: ({ spec }) => spec.volumeName },
    { name: "TYPE", of: ({ metadata, spec }) => metadata.labels?.[label.type] ?? Object.keys(spec.source)[0] },
    { name: "MODE", of: ({ spec }) => spec.mode },
    { name: "STATE", of: ({ status }) => status?.state },
    { name: "READY", of: ({ status }) => findCondition(status?.conditions, "Ready")?.status },
    { name: "MOUNTS", of: ({ status }) => status && mountCounts(status) },
    { name: "PODS", of: podsReady },
    { name: "IN-USE", of: ({ status }) => (status?.inUse === undefined ? "unknown" : String(status.inUse)) },
    { name: "WAITING", of: waitingReason },
    { name: "AGE", of: ({ metadata }) => age(metadata.creationTimestamp, now) },
    { name: "REASON", of: ({ status }) => findCondition(status?.conditions, "Ready")?.reason, wide: true },
    { name: "DRIFT", of: ({ status }) => status?.drift?.class, wide: true },
    { name: "PATH", of: ({ spec }) => spec.mounts[0]?.path, wide: true },
    { name: "NAME", of: ({ metadata }) => metadata.name, wide: true },
  ];
}

/** PURE. Pods that have the volume, and all that shall: "1/2". */
function podsReady({ spec, status }: NodeVolumeIntent): string | undefined {
  const wanted = spec.pods ?? [];
  if (wanted.length === 0) return undefined;
  const mounted = wanted.filter(({ uid, volume }) =>
    status?.pods?.some((pod) => pod.uid === uid && pod.volume === volume && pod.state === "Mounted"),
  );
  return `${mounted.length}/${wanted.length}`;
}

/** PURE. What the agent waits for, or the controller before it. */
function waitingReason({ status }: NodeVolumeIntent): string | undefined {
  return status?.waiting?.reason ?? status?.attach?.reason;
}

export const volumesCommand: Command = {
  name: "volumes",
  args: ["[NODE]"],
  summary: "Volumes of one node or of all nodes, desired and actual",
  details: [
    "One line for each volume on each node. MODE Observe: kubelet manages the volume, or a set only observes it.",
    "IN-USE comes from the kernel: false means that no mount namespace of the node has the volume; unknown, that it was not reported.",
    "-o wide adds the reason of Ready, the drift, the path, and the name of the object. -w keeps running, and prints each change.",
  ].join("\n"),
  flags: ["selector", "watch", "no-headers"],
  formats: ["wide", "json", "yaml", "name"],
  usesCluster: true,
  examples: [
    "kubectl nvi volumes",
    "kubectl nvi volumes worker-1 -o wide",
    "kubectl nvi volumes -l nodevolume.dev/set=datasets -w",
  ],
  async run(call) {
    const { args, values, context } = call;
    const format = formatOf(values, this.formats);
    const cluster = await context.connect();
    const [node] = args;
    const selection = {
      ...(values.selector !== undefined && { labelSelector: values.selector }),
      ...(node !== undefined && { fieldSelector: `spec.nodeName=${node}` }),
    };
    if (values.watch !== undefined) return watch(call, cluster, selection);
    const { items } = await cluster.client.list<NodeVolumeIntent>(resource.intents, selection);
    const intents = inOrder(items);
    if (intents.length === 0 && node !== undefined) await requireNode(cluster, node);
    if (format === "name") context.terminal.out(namesOf(resource.intents, intents));
    else if (format === "json" || format === "yaml")
      context.terminal.out(serialized(listOf(resource.intents, intents), format));
    else if (intents.length === 0)
      context.terminal.note(`No volumes found${node === undefined ? "" : ` on node ${node}`}.`);
    else {
      const options = { wide: format === "wide", headers: values["no-headers"] === undefined };
      context.terminal.out(table(volumeColumns(context.system.clock.now()), intents, options));
    }
    return exitCode.done;
  },
};

/** All rows, then a row for each object that changes, until Ctrl-C. Columns are as wide as those of the first table. */
async function watch({ values, context }: Call, cluster: Cluster, selection: Selection): Promise<number> {
  const format = formatOf(values, volumesCommand.formats);
  if (format === "json" || format === "yaml" || format === "name")
    throw new UsageError("-w shows a table: -o wide or none. For objects: kubectl get nvi -w -o json");
  // A watch that is refused, or of a kind that is not served, is tried again without an end: a list says so at once.
  await cluster.client.list<NodeVolumeIntent>(resource.intents, selection);
  const widths: number[] = [];
  const wide = format === "wide";
  const rows = (intents: readonly NodeVolumeIntent[], headers: boolean) =>
    context.terminal.out(table(volumeColumns(context.system.clock.now()), intents, { wide, headers, widths }));
  const reflector = follow<NodeVolumeIntent>(cluster, context.system, resource.intents, selection);
  reflector.start();
  await Promise.race([reflector.synced(), ending(context.interrupted)]);
  rows(inOrder([...reflector.store.list()]), values["no-headers"] === undefined);
  const shown = new Map<string, string>();
  const line = (intent: NodeVolumeIntent) => {
    const text = table(volumeColumns(0), [intent], { wide: true, headers: false });
    if (shown.get(intent.metadata.name) === text) return;
    shown.set(intent.metadata.name, text);
    rows([intent], false);
  };
  for (const intent of reflector.store.list())
    shown.set(intent.metadata.name, table(volumeColumns(0), [intent], { wide: true, headers: false }));
  const gone = ({ metadata }: KubeObject) => {
    shown.delete(metadata.name);
    context.terminal.out(`${metadata.name} is gone\n`);
  };
  reflector.store.subscribe({ onAdd: line, onUpdate: (_, after) => line(after), onDelete: gone });
  await ending(context.interrupted);
  reflector.stop();
  return exitCode.interrupted;
}
