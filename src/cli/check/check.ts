import type { Command } from "../command.ts";
import { exitCode } from "../exit-code.ts";
import { formatOf, serialized } from "../output.ts";
import { checksAfter, checksBefore } from "./checks.ts";
import { gatherAfter, gatherBefore } from "./gather.ts";
import { rendered } from "./rendered.ts";

export const checkCommand: Command = {
  name: "check",
  args: [],
  summary: "Whether the installation works; with --pre, whether the cluster is ready for it",
  details: [
    "Each line has what was checked, what was found, and what to do: ✓ works, ! works with a limit, ✗ someone must act, ? not checked.",
    "With --pre: version and features of Kubernetes, your rights, the namespace, nodes, and leftovers of an earlier installation.",
    "It changes nothing. Exits with 0 if there is no ✗, and with 1 if there is one.",
  ].join("\n"),
  flags: ["pre"],
  formats: ["json", "yaml"],
  usesCluster: true,
  examples: ["kubectl nvi check --pre", "kubectl nvi check", "kubectl nvi check -o json"],
  async run({ values, context }) {
    const format = formatOf(values, this.formats);
    const cluster = await context.connect();
    const { version } = context;
    const checks =
      values.pre === undefined
        ? checksAfter(await gatherAfter(cluster), context.clock.now(), version)
        : checksBefore(await gatherBefore(cluster), version);
    context.terminal.out(format === undefined ? rendered(checks) : serialized({ checks }, format as "json" | "yaml"));
    return checks.some(({ result }) => result === "Failed") ? exitCode.no : exitCode.done;
  },
};
