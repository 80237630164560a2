import { resource } from "../../api/names.ts";
import type { NodeVolumeIntent, NodeVolumeSet } from "../../api/types.gen.ts";
import { type Cluster, listIfAllowed, nodeNames } from "../cluster.ts";
import type { Command } from "../command.ts";
import { exitCode } from "../exit-code.ts";
import { inOrder, isOfSet, type Named, resolveName } from "../find-intents.ts";
import { formatOf, serialized } from "../output.ts";
import { type Column, table } from "../table.ts";
import { type Difference, differencesOf, differencesOfSet } from "./differences.ts";

const columns: Column<Difference>[] = [
  { name: "NODE", of: ({ node }) => node },
  { name: "VOLUME", of: ({ volume }) => volume },
  { name: "TARGET", of: ({ target }) => target },
  { name: "DESIRED", of: ({ wanted }) => wanted },
  { name: "ACTUAL", of: ({ actual }) => actual },
  { name: "REASON", of: ({ reason }) => reason },
  { name: "MESSAGE", of: ({ message }) => message, wide: true },
];

export const diffCommand: Command = {
  name: "diff",
  args: ["[NODE|SET|VOLUME]"],
  summary: "Differences between the nodes and what their intents specify",
  details: [
    "One line for each path and each pod that is not as its intent specifies, and for each mount that no intent requires any more.",
    "ACTUAL is Unknown while the node's agent is lost.",
    "Exits with 0 if there is no difference, and with 1 if there is one, as kubectl diff does.",
  ].join("\n"),
  flags: ["selector", "no-headers"],
  formats: ["wide", "json", "yaml"],
  usesCluster: true,
  examples: ["kubectl nvi diff", "kubectl nvi diff worker-1", "kubectl nvi diff datasets -o wide"],
  async run({ args: [word], values, context }) {
    const format = formatOf(values, this.formats);
    const cluster = await context.connect();
    const { intents, sets, node } = await selected(cluster, word, values.selector);
    const ofSets = sets.flatMap((set) => {
      const name = set.metadata.name;
      return differencesOfSet(
        set,
        intents.filter((intent) => isOfSet(intent, name)),
        node,
      );
    });
    const rows = [...inOrder(intents).flatMap(differencesOf), ...ofSets];
    if (format === "json" || format === "yaml") context.terminal.out(serialized({ differences: rows }, format));
    else if (rows.length > 0) {
      const options = { wide: format === "wide", headers: values["no-headers"] === undefined };
      context.terminal.out(table(columns, rows, options));
    } else context.terminal.note("No differences.");
    return rows.length > 0 ? exitCode.no : exitCode.done;
  },
};

/** What a word means: a node, a set or a volume; all without one. Labels are those of intents. */
export async function selected(cluster: Cluster, word: string | undefined, labelSelector?: string): Promise<Named> {
  const options = labelSelector === undefined ? {} : { labelSelector };
  const { items: intents } = await cluster.client.list<NodeVolumeIntent>(resource.intents, options);
  const ofSets = labelSelector === undefined ? await listIfAllowed<NodeVolumeSet>(cluster, resource.sets) : undefined;
  const isKnown = word === undefined || intents.some(({ spec }) => spec.nodeName === word);
  return resolveName(word, { intents, sets: ofSets?.items ?? [], nodes: isKnown ? [] : await nodeNames(cluster) });
}
