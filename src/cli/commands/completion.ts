import { resource } from "../../api/names.ts";
import type { NodeVolumeIntent, NodeVolumeSet } from "../../api/types.gen.ts";
import { listIfAllowed } from "../cluster.ts";
import type { Call, Command } from "../command.ts";
import { exitCode, UsageError } from "../exit-code.ts";
import { type Flag, flags } from "../flags.ts";
import { flagsOf } from "../help.ts";
import { didYouMean } from "../nearest.ts";

const scripts: { readonly [shell: string]: string } = {
  bash: `# source <(kubectl-nvi completion bash)
_kubectl_nvi() {
  local IFS=$'\\n'
  COMPREPLY=($(compgen -W "$(kubectl-nvi __complete "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null | sed '/^:/d; s/\\t.*//')" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -F _kubectl_nvi kubectl-nvi
`,
  zsh: `#compdef kubectl-nvi
# source <(kubectl-nvi completion zsh)
_kubectl_nvi() {
  local -a found
  found=(\${(f)"$(kubectl-nvi __complete "\${(@)words[2,CURRENT]}" 2>/dev/null | sed '/^:/d; s/:/\\\\:/g; s/\\t/:/')"})
  _describe 'kubectl nvi' found
}
compdef _kubectl_nvi kubectl-nvi
`,
  fish: `# kubectl-nvi completion fish | source
complete -c kubectl-nvi -f -a '(kubectl-nvi __complete (commandline -opc)[2..] (commandline -ct) 2>/dev/null | string match -v ":*")'
`,
};

export const completionCommand: Command = {
  name: "completion",
  args: ["bash|zsh|fish"],
  summary: "Completion for a shell",
  details: [
    "Prints a script for the shell; its first line shows how to load it. For `kubectl nvi`, kubectl 1.26 and newer runs an executable",
    'kubectl_complete-nvi in PATH. Create it with two lines: #!/bin/sh and exec kubectl-nvi __complete "$@"',
  ].join("\n"),
  flags: [],
  formats: [],
  usesCluster: false,
  examples: ["source <(kubectl-nvi completion bash)"],
  words: ["bash", "zsh", "fish"],
  async run({ args: [shell], context }) {
    const known = Object.keys(scripts);
    if (shell === undefined) throw new UsageError(`completion needs a shell: ${known.join(", ")}`);
    const script = Object.hasOwn(scripts, shell) ? scripts[shell] : undefined;
    if (script === undefined)
      throw new UsageError(
        `there is no completion for ${JSON.stringify(shell)}, only for ${known.join(", ")}${didYouMean(shell, known)}`,
      );
    context.terminal.out(script);
    return exitCode.done;
  },
};

/** The words so far, the last one unfinished. Answers as Cobra does: a candidate a line, then a directive. */
export function completeCommand(commands: () => readonly Command[]): Command {
  return {
    name: "__complete",
    args: ["WORD..."],
    summary: "What may come next",
    details: "",
    flags: [],
    formats: [],
    usesCluster: false,
    examples: [],
    hidden: true,
    async run(call) {
      const found = candidates(call.args, commands()) ?? (await namesFor(call, commands()));
      const begun = call.args.at(-1) ?? "";
      const lines = found.filter((line) => line.startsWith(begun));
      // 4: no names of files.
      call.context.terminal.out(`${[...new Set(lines), ":4"].join("\n")}\n`);
      return exitCode.done;
    },
  };
}

/** PURE. What may stand at the place of the last word; undefined if that are names of the cluster's objects. */
export function candidates(words: readonly string[], commands: readonly Command[]): string[] | undefined {
  const shown = commands.filter(({ hidden }) => hidden !== true);
  const last = words.at(-1) ?? "";
  const before = words.slice(0, -1).filter((word) => !word.startsWith("-"));
  if (before.length === 0 && !last.startsWith("-")) return shown.map(({ name, summary }) => `${name}\t${summary}`);
  const command = shown.find(({ name }) => name === before[0]);
  if (command === undefined) return [];
  const table: { readonly [name: string]: Flag } = flags;
  if (last.startsWith("-"))
    return flagsOf(command).map((name) => `--${name}\t${(command.meanings?.[name] ?? table[name])?.what ?? ""}`);
  if (["-o", "--output"].includes(words.at(-2) ?? "")) return [...command.formats];
  if (words.at(-2) === "--for") return ["ready", "released"];
  if (command.name === "help") return shown.map(({ name }) => name);
  if (!command.usesCluster) return [...(command.words ?? [])];
  return command.args.length === 0 ? [] : undefined;
}

/** Nodes, volumes and sets, as far as the cluster says. A completion never fails aloud. */
async function namesFor({ args, context }: Call, commands: readonly Command[]): Promise<string[]> {
  const command = commands.find(({ name }) => name === args[0]);
  const words = [...(command?.words ?? [])];
  try {
    const cluster = await context.connect();
    const { items } = await listIfAllowed<NodeVolumeIntent>(cluster, resource.intents);
    const sets = (await listIfAllowed<NodeVolumeSet>(cluster, resource.sets)).items;
    const at = args.filter((word) => !word.startsWith("-")).length - 2;
    const kinds = command?.args[at] ?? "";
    const names = items.flatMap(({ spec }) => [
      ...(kinds.includes("NODE") ? [spec.nodeName] : []),
      ...(kinds.includes("VOLUME") ? [spec.volumeName] : []),
    ]);
    return [...words, ...names, ...(kinds.includes("SET") ? sets.map(({ metadata }) => metadata.name) : [])];
  } catch {
    return words;
  }
}
