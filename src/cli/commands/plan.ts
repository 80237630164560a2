import type { NodeVolumeIntent } from "../../api/types.gen.ts";
import type { Command } from "../command.ts";
import { exitCode } from "../exit-code.ts";
import { inOrder } from "../find-intents.ts";
import { formatOf, serialized } from "../output.ts";
import { type Column, table } from "../table.ts";
import { selected } from "./diff.ts";

interface Step {
  readonly node: string;
  readonly volume: string;
  readonly because: string;
  readonly step: string;
}

const columns: Column<Step>[] = [
  { name: "NODE", of: ({ node }) => node },
  { name: "VOLUME", of: ({ volume }) => volume },
  { name: "BECAUSE", of: ({ because }) => because },
  { name: "WOULD", of: ({ step }) => step },
];

/** PURE. What mode Manage would do, in order, as the node's agent says. */
function stepsOf({ spec, status }: NodeVolumeIntent): Step[] {
  const because = spec.suspend ? "suspended" : spec.mode === "Observe" ? "Observe" : "Manage";
  return (status?.plan ?? []).map((step) => ({ node: spec.nodeName, volume: spec.volumeName, because, step }));
}

export const planCommand: Command = {
  name: "plan",
  args: ["[NODE|SET|VOLUME]"],
  summary: "What the agents would do in mode Observe, or while suspended",
  details: [
    "In mode Observe, and while suspended, the agents change nothing, and report what they would do: one line for each step, in order.",
    "In mode Manage they act at once, so there is no plan: kubectl nvi diff shows what is not done yet.",
  ].join("\n"),
  flags: ["selector", "no-headers"],
  formats: ["json", "yaml"],
  usesCluster: true,
  examples: ["kubectl nvi plan", "kubectl nvi plan worker-1", "kubectl nvi plan datasets -o json"],
  async run({ args: [word], values, context }) {
    const format = formatOf(values, this.formats);
    const cluster = await context.connect();
    const steps = inOrder((await selected(cluster, word, values.selector)).intents).flatMap(stepsOf);
    if (format === "json" || format === "yaml") context.terminal.out(serialized({ steps }, format));
    else if (steps.length > 0)
      context.terminal.out(table(columns, steps, { headers: values["no-headers"] === undefined }));
    else context.terminal.note("Nothing would be done.");
    return exitCode.done;
  },
};
