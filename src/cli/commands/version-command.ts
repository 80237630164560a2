import type { Command } from "../command.ts";

export const versionCommand: Command = {
  name: "version",
  args: [],
  summary: "Version of this program, and the commit that it was built from",
  details: "Does not contact the cluster. The agents' versions are in kubectl get nodevolumestates.",
  flags: [],
  formats: [],
  usesCluster: false,
  examples: ["kubectl nvi version"],
  async run({ context }) {
    context.terminal.out(`kubectl-nvi ${context.version} (${context.revision})\n`);
    return 0;
  },
};
