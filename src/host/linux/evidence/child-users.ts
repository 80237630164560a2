import type { Evidence, Holder, OperationContext } from "../../ports/host-ports.ts";
import { askChild } from "../child/child-reply.ts";
import type { ChildRunner } from "../child/child-runner.ts";

/** Milliseconds after which nobody is named: who holds a mount is told to people, and nothing waits for it. */
const deadlineMs = 5_000;

/**
 * Who keeps a mount busy, looked for in a child: thousands of processes take a second, and one that hangs in a page
 * fault may hold its list of mappings up. Nobody is named if that fails. One child at a time looks for the users of a
 * mount point; who asks meanwhile gets its answer, which is as old as that child, and nothing but a message rests on
 * it.
 */
export function usersByChild(runner: Pick<ChildRunner, "run">): Evidence["users"] {
  const looking = new Map<string, Promise<readonly Holder[]>>();
  return (mountPoint) => {
    const shared = looking.get(mountPoint);
    if (shared !== undefined) return shared;
    const found = look(runner, mountPoint).finally(() => looking.delete(mountPoint));
    looking.set(mountPoint, found);
    return found;
  };
}

async function look(runner: Pick<ChildRunner, "run">, mountPoint: string): Promise<readonly Holder[]> {
  const operation: OperationContext = {
    deadlineMs,
    formatDeadlineMs: deadlineMs,
    onChild: async () => {}, // it only looks, and leaves nothing behind
  };
  try {
    const reply = await askChild(runner, { kind: "users", mountPoint }, operation);
    return reply.ok ? reply.value : [];
  } catch {
    return [];
  }
}
