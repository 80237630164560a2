import type { Evidence, Holder, OperationContext } from "../ports.ts";
import type { ChildRunner } from "./child-runner.ts";

/** Milliseconds after which nobody is named: who holds a mount is told to people, and nothing waits for it. */
const deadlineMs = 5_000;

/**
 * Who keeps a mount busy, looked for in a child: thousands of processes take a second, and one that hangs in a page fault
 * may hold its list of mappings up. Nobody is named if that fails.
 */
export function usersByChild(runner: ChildRunner): Evidence["users"] {
  const operation: OperationContext = {
    deadlineMs,
    formatDeadlineMs: deadlineMs,
    onChild: async () => {}, // it only looks, and leaves nothing behind
  };
  return async (mountPoint) => {
    const found = runner.run({ kind: "users", mountPoint }, operation);
    return found
      .then(({ code, stdout }) => (code === 0 ? (JSON.parse(stdout) as readonly Holder[]) : []))
      .catch(() => []);
  };
}
