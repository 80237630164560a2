import type { Command } from "./command.ts";
import { everywhere, type Flag, type FlagName, flags, ofCluster } from "./flags.ts";
import { aligned } from "./table.ts";

/** PURE. The flags that a command takes. */
export function flagsOf({ flags: own, usesCluster, formats }: Command): FlagName[] {
  const common = usesCluster ? [...ofCluster, ...everywhere] : everywhere;
  return [...own, ...(formats.length > 0 ? (["output"] as const) : []), ...common];
}

/** PURE. What there is. */
export function overview(commands: readonly Command[]): string {
  const shown = commands.filter(({ hidden }) => hidden !== true);
  return [
    "Shows which volumes must be mounted on the nodes of a cluster, whether they are, and if not, why.\n\n",
    "Usage: kubectl nvi COMMAND [ARGUMENTS] [FLAGS]\n\n",
    aligned(shown.map(({ name, args, summary }) => [`  ${[name, ...args].join(" ")}`, summary])),
    "\nkubectl nvi help COMMAND explains each command. Exit codes: 0 done, or yes; 1 no; 2 the command line is wrong; 3 failed.\n",
  ].join("");
}

/** PURE. All of one command. */
export function helpOf(command: Command): string {
  const table: { readonly [name: string]: Flag } = flags;
  const lines = flagsOf(command).map((name) => {
    const { short, value, what } = { what: "", ...table[name], ...command.meanings?.[name] };
    const long = `--${name}${value === undefined ? "" : ` ${value}`}`;
    const known = name === "output" && command.formats.length > 0 ? command.formats.join(", ") : what;
    return [`  ${short === undefined ? "    " : `-${short}, `}${long}`, known];
  });
  return [
    `${command.summary}\n\nUsage: kubectl nvi ${[command.name, ...command.args].join(" ")} [FLAGS]\n\n`,
    `${command.details}\n\nFlags:\n`,
    aligned(lines),
    command.examples.length === 0 ? "" : `\nExamples:\n${command.examples.map((line) => `  ${line}\n`).join("")}`,
  ].join("");
}
