import { resource } from "../../api/names.ts";
import type { NodeVolumeIntent } from "../../api/types.gen.ts";
import { type Raw, timeOf } from "../../explain/facts.ts";
import { numberIn, stringIn } from "../../kube/json.ts";
import { age, duration } from "../age.ts";
import { listIfAllowed } from "../cluster.ts";
import type { Command } from "../command.ts";
import { exitCode, UsageError } from "../exit-code.ts";
import { inOrder } from "../find-intents.ts";
import { formatOf, serialized } from "../output.ts";
import { type Column, table } from "../table.ts";
import { selected } from "./diff.ts";

interface Entry {
  readonly node: string;
  readonly volume: string;
  readonly time: string;
  /** How long it was so; "" if it still is, or for an Event. */
  readonly lasted: string;
  readonly what: string;
  readonly reason: string;
  readonly message: string;
}

/** PURE. Transitions of state and Events of a volume, the oldest first. */
export function entriesOf({ metadata, spec, status }: NodeVolumeIntent, events: readonly Raw[]): Entry[] {
  const base = { node: spec.nodeName, volume: spec.volumeName };
  const history = status?.history ?? [];
  const transitions = history.map(({ time, state, reason }, at): Entry => {
    const next = Date.parse(history[at + 1]?.time ?? "");
    const lasted = Number.isNaN(next) ? "" : duration(next - Date.parse(time));
    return { ...base, time, lasted, what: state, reason: reason ?? "", message: "" };
  });
  const told = events
    .filter((event) => stringIn(event["involvedObject"], "uid") === metadata.uid)
    .map((event): Entry => {
      const count = numberIn(event, "count") ?? 1;
      const message = `${stringIn(event, "message") ?? ""}${count > 1 ? ` (${count} times)` : ""}`;
      return {
        ...base,
        time: timeOf(event),
        lasted: "",
        what: "Event",
        reason: stringIn(event, "reason") ?? "",
        message,
      };
    });
  return [...transitions, ...told].sort((a, b) => Date.parse(a.time) - Date.parse(b.time));
}

export const historyCommand: Command = {
  name: "history",
  args: ["VOLUME"],
  summary: "What has happened to a volume",
  details: [
    "The last ten changes of its state on each node, and its Events, the oldest first.",
    "AGE: how long ago the state began. LASTED: how long it lasted. VOLUME is a name as for explain.",
  ].join("\n"),
  flags: ["no-headers"],
  formats: ["json", "yaml"],
  usesCluster: true,
  examples: ["kubectl nvi history datasets", "kubectl nvi history worker-1/datasets"],
  async run({ args: [word], values, context }) {
    const format = formatOf(values, this.formats);
    if (word === undefined) throw new UsageError("history needs the name of a volume: kubectl nvi volumes lists them");
    const cluster = await context.connect();
    const intents = inOrder((await selected(cluster, word)).intents);
    const fieldSelector = "involvedObject.kind=NodeVolumeIntent";
    const events = await listIfAllowed<Raw>(cluster, resource.events, { namespace: "default", fieldSelector });
    const entries = intents.flatMap((intent) => entriesOf(intent, events.items));
    if (events.denied !== undefined) context.terminal.note(`Events are left out: ${events.denied}.`);
    const columns: Column<Entry>[] = [
      { name: "NODE", of: ({ node }) => node },
      { name: "VOLUME", of: ({ volume }) => volume },
      { name: "AGE", of: ({ time }) => age(time, context.system.clock.now()) },
      { name: "LASTED", of: ({ lasted }) => lasted },
      { name: "STATE", of: ({ what }) => what },
      { name: "REASON", of: ({ reason }) => reason },
      { name: "MESSAGE", of: ({ message }) => message },
    ];
    if (format === "json" || format === "yaml") context.terminal.out(serialized({ history: entries }, format));
    else if (entries.length > 0)
      context.terminal.out(table(columns, entries, { headers: values["no-headers"] === undefined }));
    else context.terminal.note("Nothing has happened to it yet.");
    return exitCode.done;
  },
};
