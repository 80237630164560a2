import { resource } from "../../api/names.ts";
import type { NodeVolumeState, Orphan } from "../../api/types.gen.ts";
import { age, duration } from "../age.ts";
import { requireNode } from "../cluster.ts";
import type { Command } from "../command.ts";
import { CommandError, exitCode } from "../exit-code.ts";
import { formatOf, serialized } from "../output.ts";
import { type Column, table } from "../table.ts";

interface Row extends Orphan {
  readonly node: string;
}

/** PURE. */
export function orphanColumns(now: number): Column<Row>[] {
  return [
    { name: "NODE", of: ({ node }) => node },
    { name: "KIND", of: ({ kind }) => kind },
    { name: "PATH", of: ({ path }) => path },
    { name: "FOR", of: ({ volume }) => volume },
    { name: "REASON", of: ({ reason }) => reason },
    { name: "AGE", of: ({ since }) => age(since, now) },
    { name: "REAPED", of: (row) => reaped(row, now) },
    { name: "SOURCE", of: ({ source }) => source, wide: true },
    { name: "EVIDENCE", of: ({ message }) => message, wide: true },
    { name: "REMEDY", of: ({ remedy }) => remedy, wide: true },
    { name: "KEPT BECAUSE", of: ({ keptBecause }) => keptBecause, wide: true },
  ];
}

/** When the agent removes it itself. */
function reaped({ reapAt }: Row, now: number): string {
  const at = Date.parse(reapAt ?? "");
  if (Number.isNaN(at)) return "no";
  return at > now ? `in ${duration(at - now)}` : "now";
}

export const orphansCommand: Command = {
  name: "orphans",
  args: ["[NODE]"],
  summary: "Mounts that no intent or pod needs any more",
  details: [
    "What the agents found, for what it was mounted, and since when. -o wide adds the evidence, the remedy, and why no agent removes it.",
    "Agents remove only what kubelet left behind, and only with --reap-orphans-grace-period.",
    "Each agent lists its first 50 orphans; a note tells where there are more.",
  ].join("\n"),
  flags: ["no-headers"],
  formats: ["wide", "json", "yaml"],
  usesCluster: true,
  examples: ["kubectl nvi orphans", "kubectl nvi orphans worker-1 -o wide"],
  async run({ args: [node], values, context }) {
    const format = formatOf(values, this.formats);
    const cluster = await context.connect();
    const states = await statesOf(node);
    const rows = states.flatMap(({ metadata, status }) =>
      (status?.orphans ?? []).map((orphan): Row => ({ node: metadata.name, ...orphan })),
    );
    rows.sort((a, b) => (`${a.node}\0${a.path}` < `${b.node}\0${b.path}` ? -1 : 1));
    if (format === "json" || format === "yaml") context.terminal.out(serialized({ orphans: rows }, format));
    else if (rows.length > 0) {
      const options = { wide: format === "wide", headers: values["no-headers"] === undefined };
      context.terminal.out(table(orphanColumns(context.system.clock.now()), rows, options));
    } else context.terminal.note(node === undefined ? "No orphans found." : `No orphans found on node ${node}.`);
    for (const { metadata, status } of states) {
      const more = (status?.orphaned ?? 0) - (status?.orphans?.length ?? 0);
      if (more > 0) context.terminal.note(`${metadata.name} has ${more} more.`);
    }
    return exitCode.done;

    async function statesOf(name: string | undefined): Promise<readonly NodeVolumeState[]> {
      if (name === undefined) return (await cluster.client.list<NodeVolumeState>(resource.states)).items;
      const fieldSelector = `metadata.name=${name}`; // a list says if the kind is not served
      const { items } = await cluster.client.list<NodeVolumeState>(resource.states, { fieldSelector });
      if (items.length > 0) return items;
      await requireNode(cluster, name);
      throw new CommandError(`the agent of node ${name} has not reported yet`);
    }
  },
};
