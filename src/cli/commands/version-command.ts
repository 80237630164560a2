import type { Command } from "../command.ts";

export const versionCommand: Command = {
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
