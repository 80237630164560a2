import { gzipSync } from "node:zlib";
import { messageOf } from "../../errors.ts";
import { requireNode } from "../cluster.ts";
import type { Command } from "../command.ts";
import { CommandError, exitCode, UsageError } from "../exit-code.ts";
import { Bundle } from "./bundle.ts";
import { gather, json } from "./gather.ts";
import { tarOf } from "./tar.ts";

export const supportBundleCommand: Command = {
  name: "support-bundle",
  args: [],
  summary: "What a bug report needs, as one archive",
  details: [
    "Objects of the project and their conditions, Kubernetes objects of nodes, drivers and attachments, Events, settings, logs and",
    "metrics of controllers and agents. No Secret is read, and what looks like one is removed: check the archive before you share it.",
    "README.txt in the archive lists what could not be read, and why. The archive has at most 64 MiB before it is compressed.",
  ].join("\n"),
  flags: ["node", "output"],
  formats: [],
  meanings: {
    node: {
      value: "NAME",
      what: "only the objects of this node, and the log of its agent; default: all nodes, with the logs of 20 agents",
    },
    output: {
      value: "FILE",
      what: "archive to write; default: nvi-support-bundle-TIME.tar.gz in this folder. An existing file is not overwritten",
    },
  },
  usesCluster: true,
  examples: ["kubectl nvi support-bundle", "kubectl nvi support-bundle --node worker-1 --output worker-1.tar.gz"],
  async run({ values, context }) {
    const { node } = values;
    const now = context.system.clock.now();
    const stamp = new Date(now).toISOString().replace(/[-:]|\.\d+/g, "");
    const folder = `nvi-support-bundle-${stamp}`;
    const file = values.output ?? `${folder}.tar.gz`;
    if (!/\.(tar\.gz|tgz)$/.test(file))
      throw new UsageError(`--output: ${JSON.stringify(file)} must end with .tar.gz or .tgz`);
    const cluster = await context.connect();
    if (node !== undefined) await requireNode(cluster, node);
    const bundle = new Bundle();
    await gather({
      transport: cluster.transport,
      bundle,
      node,
      version: context.version,
      revision: context.revision,
      progress: (line) => context.terminal.note(line),
      checkpoint() {
        if (context.interrupted.aborted) throw new CommandError("interrupted: nothing was written");
      },
    });
    const time = new Date(now).toISOString();
    const { gaps } = bundle;
    bundle.add("bundle.json", json({ version: context.version, time, node, gaps, files: bundle.list() }));
    bundle.add("README.txt", readme(bundle, time, node));
    const archive = gzipSync(tarOf(bundle.files(folder), Math.floor(now / 1000)));
    try {
      await context.write(file, archive);
    } catch (error) {
      throw new CommandError(`${file} cannot be written: ${messageOf(error)}`);
    }
    for (const { what, why } of gaps) context.terminal.note(`left out: ${what}: ${why}`);
    context.terminal.out(`${file}\n`);
    return exitCode.done;
  },
};

/** What whoever opens the archive reads first. */
function readme(bundle: Bundle, time: string, node: string | undefined): string {
  const missing = bundle.gaps.map(({ what, why }) => `  ${what}: ${why}`);
  return [
    `Made by kubectl nvi support-bundle at ${time}, of ${node === undefined ? "the whole cluster" : `node ${node}`}.`,
    "",
    "Look here first: troubles.txt has every condition that is not as it should be.",
    "",
    "It holds names of nodes, namespaces, sets, servers and paths, and labels of nodes. It holds no Secret: none was read, and what",
    "looks like a secret was replaced by [redacted], so were variables of pods that are no settings of ours and what only a CSI driver",
    "understands (volumeAttributes, publishContext, attachmentMetadata, options). Annotations that are neither ours nor Kubernetes',",
    "copies of objects (last-applied-configuration), managedFields, addresses and images of nodes, and pods of other namespaces are",
    "not in it. Look at it before you give it on.",
    "",
    missing.length === 0 ? "All of it could be read." : "What is not in it, and why:",
    ...missing,
    "",
    "Files, with their bytes:",
    ...bundle.list().map(({ path, bytes }) => `  ${path}: ${bytes}`),
    "",
  ].join("\n");
}
