import { timestamp } from "../../api/conditions.ts";
import { annotation, resource } from "../../api/names.ts";
import type { NodeVolumeIntent } from "../../api/types.gen.ts";
import { isConflict } from "../../kube/client/api-error.ts";
import { whoAmI } from "../cluster.ts";
import type { Command } from "../command.ts";
import { CommandError, exitCode, UsageError } from "../exit-code.ts";
import { intentsNamed, notFound } from "../find-intents.ts";

const checks = [
  "Before you confirm it, make sure of one of these:",
  "  - the machine is off, and does not come back with its disks attached and its processes running;",
  "  - or it runs, and nothing on it shows the volume: findmnt, and /proc/*/mountinfo of every container, have no line of it.",
  "If it is still in use there, another node may get it at the same time, and its data is lost.",
].join("\n");

export const releaseCommand: Command = {
  name: "release",
  args: ["NODE", "VOLUME"],
  summary: "Confirm, in place of a node whose agent is gone, that it no longer uses a volume",
  details: [
    "For a volume that waits for its release on a node whose agent never returns. Needs the ClusterRole nodevolume-admin.",
    "It writes your name, the reason and the time to the intent (annotation nodevolume.dev/release); the controller then releases it.",
    `${checks}\nIt is refused without --i-have-checked, and while a set still uses the volume there.`,
  ].join("\n"),
  flags: ["i-have-checked", "reason"],
  formats: [],
  usesCluster: true,
  examples: ["kubectl nvi release worker-1 datasets --i-have-checked --reason 'powered off, ticket 4711'"],
  async run({ args: [node, word], values, context }) {
    if (node === undefined || word === undefined)
      throw new UsageError("release needs a node and a volume: release NODE VOLUME");
    const cluster = await context.connect();
    const { items } = await cluster.client.list<NodeVolumeIntent>(resource.intents, {
      fieldSelector: `spec.nodeName=${node}`,
    });
    const found = intentsNamed(word, items);
    const [intent] = found;
    if (intent === undefined)
      throw new CommandError(`on node ${node}: ${notFound(word, { intents: items, sets: [], nodes: [] })}`);
    if (found.length > 1)
      throw new CommandError(
        `${JSON.stringify(word)} is more than one volume on ${node}: ${found.map(({ metadata }) => metadata.name).join(", ")}`,
      );
    const trouble = whyNotReleasable(intent);
    if (trouble !== undefined) throw new CommandError(trouble);
    if (values["i-have-checked"] === undefined) {
      context.terminal.note(checks);
      throw new UsageError(
        `${node} may still use ${intent.spec.volumeName}: if you have checked that it does not, add --i-have-checked`,
      );
    }
    const who = await whoAmI(cluster);
    const why = values.reason ?? "checked that the node no longer uses it";
    const word_ = `${who}: ${why} (${timestamp(context.system.clock.now())})`;
    const { name, uid, resourceVersion } = intent.metadata;
    try {
      const body = { metadata: { annotations: { [annotation.release]: word_ } } };
      await cluster.client.mergePatch(resource.intents, { name, uid, resourceVersion }, body);
    } catch (error) {
      if (isConflict(error))
        throw new CommandError(
          `${name} has changed since it was read: run the command again, as its agent may have reported meanwhile`,
        );
      throw error;
    }
    context.terminal.out(`nodevolumeintent.nodevolume.dev/${name} released by ${who}\n`);
    return exitCode.done;
  },
};

/** PURE. Why nobody may speak for the node now; undefined if somebody may. */
export function whyNotReleasable({ metadata, spec, status }: NodeVolumeIntent): string | undefined {
  const called = `${spec.volumeName} on ${spec.nodeName}`;
  if (spec.mode === "Observe")
    return `${called} is only observed: kubelet manages it, and there is nothing of ours to release`;
  if (metadata.deletionTimestamp === undefined)
    return `${called} is still in use by a set: take the node out of the set, or delete the set, first. A confirmation that was given too early would count later, when it may be wrong`;
  if (status?.agentState?.state === "Live")
    return `the agent of ${spec.nodeName} is alive and releases ${spec.volumeName} by itself: kubectl nvi explain ${metadata.name} shows what it waits for`;
  return undefined;
}
