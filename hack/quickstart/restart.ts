import type { PretendHost } from "../lib/pretend-node/node.ts";
import { StepError } from "../lib/process.ts";
import type { Sandbox } from "../lib/sandbox/inside.ts";
import { type Demo, prefix } from "./demo.ts";
import { placeOf } from "./mount-lines.ts";
import { milliseconds, unmountAndWatch } from "./repair.ts";
import type { Screen } from "./screen.ts";

/** Kills the agent of the first node, and shows that its mounts stay, and that the next one goes on with them. */
export async function showRestart(demo: Demo, victim: string, screen: Screen): Promise<void> {
  const [host, agent] = [demo.hosts[0], demo.agents[0]];
  if (host === undefined || agent === undefined) return;
  screen.step(`kill -9 ${agent.pid}, the agent of ${host.name}`);
  const before = await oursOn(host);
  const restarted = agent.restarted();
  agent.kill("SIGKILL");
  await Promise.race([restarted, agent.ended]);
  const changed = changedMounts(before, await oursOn(host));
  if (changed.length > 0) {
    throw new StepError(`mounts changed while there was no agent: ${changed.join(", ")}`, {
      details: [],
      remedy: "this must not happen: please file an issue with the lines above",
    });
  }
  screen.note(
    `started again as ${agent.pid}, as by a DaemonSet; all ${before.length} mounts stayed, each with its mount id`,
  );
  const { goneMs } = await unmountAndWatch(host, victim);
  screen.note(
    `and the new agent has them in its care: ${victim}, unmounted once more, was back in ${milliseconds(goneMs)}`,
  );
}

/** Lines of the host's mountinfo that are ours. */
export const oursOn = async (host: PretendHost): Promise<string[]> =>
  (await host.mounts()).filter((line) => placeOf(line).startsWith(prefix));

/** PURE. Places that came, went, or have another mount id. */
export function changedMounts(before: readonly string[], after: readonly string[]): string[] {
  const known = (lines: readonly string[]) => lines.map((line) => `${line.split(" ")[0]} ${placeOf(line)}`);
  const [was, is] = [known(before), known(after)];
  const changed = [...was.filter((one) => !is.includes(one)), ...is.filter((one) => !was.includes(one))];
  return [...new Set(changed.map((each) => each.slice(each.indexOf(" ") + 1)))];
}

/**
 * Says each time that an agent was started again, while the cluster is up, with the number that another terminal may
 * kill it by.
 */
export function tellRestarts(
  { agents }: Pick<Demo, "agents">,
  screen: Pick<Screen, "note">,
  { stopped, outerPid }: Sandbox,
): void {
  for (const agent of agents) {
    const next = () =>
      void agent.restarted().then(async () => {
        if (stopped.aborted) return;
        next();
        const pid = await outerPid(agent.pid);
        // It may have ended once more, and then it has no number.
        screen.note(`${agent.name} has ended, and was started again${pid === 0 ? "" : ` as ${pid}`}`);
      });
    next();
  }
}
