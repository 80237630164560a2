import { checkCommand } from "./check/check.ts";
import type { Command } from "./command.ts";
import { completeCommand, completionCommand } from "./commands/completion.ts";
import { diffCommand } from "./commands/diff.ts";
import { drainedCommand } from "./commands/drained.ts";
import { historyCommand } from "./commands/history.ts";
import { orphansCommand } from "./commands/orphans.ts";
import { planCommand } from "./commands/plan.ts";
import { releaseCommand } from "./commands/release.ts";
import { uiCommand } from "./commands/ui.ts";
import { volumesCommand } from "./commands/volumes.ts";
import { waitCommand } from "./commands/wait.ts";
import { UsageError } from "./exit-code.ts";
import { explainCommand } from "./explain/explain.ts";
import { exportCommand } from "./export/export.ts";
import type { FlagName, FlagValues } from "./flags.ts";
import { flagsOf, helpOf, overview } from "./help.ts";
import { didYouMean } from "./nearest.ts";
import { supportBundleCommand } from "./support-bundle/support-bundle.ts";

const helpCommand: Command = {
  name: "help",
  args: ["[COMMAND]"],
  summary: "Help of a command",
  details: "Without COMMAND, it lists all commands.",
  flags: [],
  formats: [],
  usesCluster: false,
  examples: ["kubectl nvi help explain"],
  async run({ args: [name], context }) {
    context.terminal.out(name === undefined ? overview(commands) : helpOf(commandOf(name, [], {})));
    return 0;
  },
};

const versionCommand: Command = {
  name: "version",
  args: [],
  summary: "Version of this program, and the commit it was built from",
  details: "It does not contact the cluster. For the versions of the agents: kubectl get nodevolumestates",
  flags: [],
  formats: [],
  usesCluster: false,
  examples: ["kubectl nvi version"],
  async run({ context }) {
    context.terminal.out(`kubectl-nvi ${context.version} (${context.revision})\n`);
    return 0;
  },
};

/** All of them, as help lists them. */
export const commands: readonly Command[] = [
  volumesCommand,
  explainCommand,
  diffCommand,
  planCommand,
  waitCommand,
  historyCommand,
  orphansCommand,
  drainedCommand,
  releaseCommand,
  exportCommand,
  checkCommand,
  supportBundleCommand,
  uiCommand,
  completionCommand,
  versionCommand,
  helpCommand,
  completeCommand(() => commands),
];

/** PURE. The command of that name, its arguments and flags checked. @throws UsageError which names the nearest one */
export function commandOf(name: string, args: readonly string[], values: FlagValues): Command {
  const command = commands.find((one) => one.name === name);
  const names = commands.filter(({ hidden }) => hidden !== true).map((one) => one.name);
  if (command === undefined) {
    throw new UsageError(
      `unknown command ${JSON.stringify(name)}${didYouMean(name, names)}\nThere are ${names.join(", ")}.`,
    );
  }
  const known = flagsOf(command);
  for (const flag of Object.keys(values) as FlagName[]) {
    if (known.includes(flag)) continue;
    const own = known.filter((one) => one !== "help" && one !== "verbose").map((one) => `--${one}`);
    throw new UsageError(`${name} takes no --${flag}. It takes ${own.join(", ") || "no flags"}.`);
  }
  const most = command.args.some((arg) => arg.endsWith("...")) ? Number.POSITIVE_INFINITY : command.args.length;
  if (args.length > most) {
    const extra = args.slice(command.args.length).map((arg) => JSON.stringify(arg));
    throw new UsageError(`kubectl nvi ${[name, ...command.args].join(" ")}: ${extra.join(" ")} is too much`);
  }
  return command;
}
