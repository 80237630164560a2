import type { KernelAgent } from "../../../hack/lib/agent-on-kernel/kernel-agent.ts";

/**
 * Starts the agent anew without CAP_SYS_PTRACE: of a process that has it, which is every other of root's, it cannot
 * read which mount namespace it is in (EACCES), as under a hardened PID 1 nobody can of that.
 */
export async function withoutPtrace(agent: KernelAgent): Promise<void> {
  await agent.kill();
  agent.startedBy = ["setpriv", "--bounding-set=-sys_ptrace"];
  await agent.start();
}
