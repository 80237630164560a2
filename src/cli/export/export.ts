import { printable } from "../../api/values/printable.ts";
import { messageOf } from "../../errors.ts";
import type { Command } from "../command.ts";
import { CommandError, exitCode } from "../exit-code.ts";
import { toYaml } from "../output.ts";
import { type Converted, convert } from "./convert.ts";
import type { MountFile } from "./mount-line.ts";
import { parseMounts } from "./parse-mounts.ts";
import { redactedSource, redactedType, shownTarget } from "./redacted-source.ts";

export const exportCommand: Command = {
  name: "export",
  args: [],
  summary: "Sets for the entries of a node's fstab or mount table",
  details: [
    "Reads an fstab, /proc/mounts or /proc/1/mountinfo of a node, and needs no cluster. A comment names what a set cannot express,",
    "and why. The sets have mode Observe: agents change nothing, and kubectl nvi plan shows what mode Manage would do.",
  ].join("\n"),
  flags: ["node-file", "node"],
  formats: [],
  usesCluster: false,
  examples: [
    "kubectl nvi export --node-file /etc/fstab",
    "ssh worker-1 cat /proc/1/mountinfo | kubectl nvi export --node worker-1",
  ],
  async run({ values, context }) {
    const path = values["node-file"];
    let bytes: Uint8Array;
    try {
      bytes = await context.read(path);
    } catch (error) {
      throw new CommandError(`${path ?? "standard input"} cannot be read: ${messageOf(error)}`);
    }
    const file = parseMounts(bytes);
    if (file.lines.length === 0)
      throw new CommandError(`${path ?? "standard input"} has no line of an fstab or of a mount table`);
    context.terminal.out(exported(file, values.node));
    return exitCode.done;
  },
};

/** PURE. The sets, each with what is to be said of it, and then what is no set. */
export function exported(file: MountFile, node: string | undefined): string {
  const taken = new Set<string>();
  const all: Converted[] = [];
  for (const line of file.lines) {
    const converted = convert(line, taken, node);
    if (converted.kind === "set") taken.add(converted.set.metadata.name);
    all.push(converted);
  }
  const sets = all.filter((one) => one.kind === "set");
  const others = all.filter((one) => one.kind === "none");
  // A mount table is mostly the system's: line by line it would hide what matters.
  const system = file.kind === "fstab" ? [] : others.filter(({ ofSystem }) => ofSystem);
  const told = others.filter((one) => !system.includes(one));
  return [
    comment(
      `Made of a node's ${file.kind} by kubectl nvi export. Mode Observe: nothing is touched; kubectl nvi plan shows what Manage would do.`,
    ),
    comment(
      "Each path must be beneath a prefix that the agents are configured to allow (--allowed-prefix). nosuid and nodev are set by default.",
    ),
    ...(file.kind === "/proc/mounts"
      ? [comment("/proc/mounts does not distinguish a bind from its file system: /proc/1/mountinfo does.")]
      : []),
    ...(node === undefined ? [comment("The sets select every node: give --node, or write spec.nodeSelector.")] : []),
    ...sets.flatMap(({ line, set, notes }) => [
      "---\n",
      comment(`${shownTarget(line)}: ${redactedType(line)} of ${redactedSource(line)}`),
      ...notes.map(comment),
      toYaml(set),
    ]),
    ...(told.length + system.length + file.unread.length > 0 ? ["---\n", comment("No set is made of:")] : []),
    ...told.map(({ line, reason }) =>
      comment(`  ${shownTarget(line)} (${redactedType(line)} of ${redactedSource(line)}): ${reason}`),
    ),
    ...(system.length > 0 ? [comment(`  ${system.length} mounts of the system, of containers and of kubelet`)] : []),
    ...file.unread.map((line) => comment(`  line ${line}, which is not one of an fstab or a mount table`)),
  ].join("");
}

function comment(text: string): string {
  return `# ${printable(text)}\n`;
}
