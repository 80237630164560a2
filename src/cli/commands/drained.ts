import { findCondition } from "../../api/conditions.ts";
import { resource } from "../../api/names.ts";
import type { NodeVolumeIntent, NodeVolumeState } from "../../api/types.gen.ts";
import { printable } from "../../api/values/printable.ts";
import { parseDuration } from "../arguments.ts";
import { type Cluster, getIfAllowed, requireNode, type Selection } from "../cluster.ts";
import type { Call, Command } from "../command.ts";
import { exitCode, UsageError } from "../exit-code.ts";
import { formatOf, serialized } from "../output.ts";
import { type Column, table } from "../table.ts";
import { silence, waitUntil, within } from "./wait-until.ts";

/** Why a volume keeps a node from being drained. */
interface Holding {
  readonly node: string;
  readonly volume: string;
  readonly name: string;
  readonly state: string;
  readonly why: string;
}

/**
 * PURE. What a node still has of ours, by safety rule 23: a grant that was not given back, or a volume that may be in
 * use. Observe intents have no grant and never count (rule 27). Status is for people: who detaches reads more than
 * this.
 */
export function holdingOf({ metadata, spec, status = {} }: NodeVolumeIntent): Holding | undefined {
  if (spec.mode === "Observe") return undefined;
  const base = { node: spec.nodeName, volume: spec.volumeName, name: metadata.name, state: status.state ?? "Unknown" };
  const answers =
    status.observedUID === metadata.uid &&
    status.observedGeneration === metadata.generation &&
    status.grantID === spec.grant?.id;
  if (status.inUse !== false && (spec.grant !== undefined || status.inUse === true)) {
    const word = status.waiting === undefined ? "" : `: ${status.waiting.reason}`;
    return { ...base, why: status.inUse === true ? `in use${word}` : `perhaps in use${word}` };
  }
  if (spec.grant === undefined) return undefined;
  if (metadata.deletionTimestamp === undefined) return { ...base, why: "granted: a set still uses it there" };
  return answers && status.state === "Released"
    ? { ...base, why: "released; the controller has not removed it yet" }
    : { ...base, why: "its release is not acknowledged" };
}

const columns: Column<Holding>[] = [
  { name: "VOLUME", of: ({ volume }) => volume },
  { name: "STATE", of: ({ state }) => state },
  { name: "WHY", of: ({ why }) => why },
  { name: "NAME", of: ({ name }) => name },
];

export const drainedCommand: Command = {
  name: "drained",
  args: ["NODE"],
  summary: "Whether a node has released all of its node volumes",
  details: [
    "Drained means: nothing is granted to the node, nothing may be in use there, and each release was acknowledged.",
    "Otherwise it lists what is left, and why. Volumes that kubelet manages do not count: kubectl drain evicts their pods.",
    "Exits with 0 if the node is drained, and with 1 if it is not. --wait waits until it is, up to --timeout.",
  ].join("\n"),
  flags: ["wait", "timeout", "no-headers"],
  formats: ["json", "yaml"],
  usesCluster: true,
  examples: ["kubectl nvi drained worker-1", "kubectl nvi drained worker-1 --wait --timeout 10m"],
  async run(call) {
    const { args, values, context } = call;
    const format = formatOf(values, this.formats);
    const [node] = args;
    if (node === undefined) throw new UsageError("drained needs the name of a node");
    const timeoutMs = values.wait === undefined ? 0 : parseDuration(values.timeout ?? "5m", "--timeout");
    const cluster = await context.connect();
    const selection = { fieldSelector: `spec.nodeName=${node}` };
    const began = context.system.clock.monotonic();
    const first = await within(context, timeoutMs, intentsOn(cluster, node, selection));
    if (first === "interrupted") return exitCode.interrupted;
    if (first === "timeout") {
      context.terminal.note(`${silence}\nit is unknown whether node/${node} is drained`);
      return exitCode.failed;
    }
    let left = holdings(first);
    if (left.length > 0 && timeoutMs > 0) {
      const leftMs = Math.max(1, timeoutMs - (context.system.clock.monotonic() - began));
      const end = await waitUntil<NodeVolumeIntent>(call, cluster, resource.intents, selection, leftMs, (all) => {
        left = holdings(all);
        return left.length === 0 ? undefined : left.map(({ volume, why }) => `${volume}: ${why}`).join("; ");
      });
      if (end === "interrupted") return exitCode.interrupted;
    }
    if (format === "json" || format === "yaml")
      context.terminal.out(serialized({ node, drained: left.length === 0, left }, format));
    else if (left.length === 0) context.terminal.out(`node/${node} drained\n`);
    else {
      context.terminal.out(table(columns, left, { headers: values["no-headers"] === undefined }));
      context.terminal.note(`node/${node} is not drained: ${left.length} left.`);
    }
    await noteDifferentStatus(call, node, left.length === 0);
    return left.length === 0 ? exitCode.done : exitCode.no;
  },
};

/** @throws CommandError if there is no such node */
async function intentsOn(cluster: Cluster, node: string, selection: Selection): Promise<NodeVolumeIntent[]> {
  const { items } = await cluster.client.list<NodeVolumeIntent>(resource.intents, selection);
  if (items.length === 0) await requireNode(cluster, node);
  return items;
}

function holdings(intents: readonly NodeVolumeIntent[]): Holding[] {
  return intents.map(holdingOf).filter((holding) => holding !== undefined);
}

/** What the node's agent says, if it is something else: whichever of the two is newer, both are worth knowing. */
async function noteDifferentStatus({ context }: Call, name: string, drained: boolean): Promise<void> {
  const cluster = await context.connect();
  const { items } = await getIfAllowed<NodeVolumeState>(cluster, resource.states, { name });
  const word = findCondition(items[0]?.status?.conditions, "Drained");
  if (word === undefined || (word.status === "True") === drained) return;
  context.terminal.note(printable(`The agent of ${name} reported Drained=${word.status}: ${word.message}`));
}
