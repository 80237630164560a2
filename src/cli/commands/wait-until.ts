import type { KubeObject } from "../../api/meta.ts";
import type { Resource } from "../../api/names.ts";
import { printable } from "../../api/values/printable.ts";
import { type Cluster, follow, type Selection } from "../cluster.ts";
import type { Call, Context } from "../command.ts";

/** Resolves when `signal` comes, or has come. */
export function ending(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
}

/** For the one look of --timeout 0, milliseconds. */
const oneLookMs = 30_000;

/** Why it waits, where nothing is known. */
export const silence = "waiting: the API server has not answered";

/** How a wait ended. */
export type WaitEnd = "done" | "timeout" | "interrupted";

/**
 * What `work` resolves to, or how the wait for it has ended: a request to an API server that hangs is given up much
 * later.
 * @param timeoutMs as of --timeout: 0 leaves it to the request
 */
export async function within<T>(
  { system, interrupted }: Pick<Context, "system" | "interrupted">,
  timeoutMs: number,
  work: Promise<T>,
): Promise<T | "timeout" | "interrupted"> {
  let cancel = () => {};
  const over = new Promise<"timeout">((resolve) => {
    if (timeoutMs > 0) cancel = system.timers.after(timeoutMs, () => resolve("timeout"));
  });
  try {
    return await Promise.race([work, over, ending(interrupted).then(() => "interrupted" as const)]);
  } finally {
    cancel();
  }
}

/**
 * Watches objects until `why` has no more reason to wait. Each reason is noted when it changes, and looked at only when
 * an object has changed: nothing is asked again and again.
 * @param why what is still waited for, of all objects; undefined if nothing is
 */
export async function waitUntil<T extends KubeObject>(
  call: Call,
  cluster: Cluster,
  resource: Resource,
  options: Selection,
  timeoutMs: number,
  why: (objects: readonly T[]) => string | undefined,
): Promise<WaitEnd> {
  const { context } = call;
  const reflector = follow<T>(cluster, context.system, resource, options);
  return new Promise<WaitEnd>((resolve) => {
    let said = "";
    const cancelTimeout = context.system.timers.after(timeoutMs === 0 ? oneLookMs : timeoutMs, () => {
      if (!reflector.store.state().synced) context.terminal.note(silence);
      end("timeout");
    });
    const onAbort = () => end("interrupted");
    const end = (how: WaitEnd) => {
      cancelTimeout();
      context.interrupted.removeEventListener("abort", onAbort);
      unsubscribe();
      reflector.stop();
      resolve(how);
    };
    const look = () => {
      if (!reflector.store.state().synced) return;
      const reason = why([...reflector.store.list()]);
      if (reason === undefined) return end("done");
      if (timeoutMs === 0) return end("timeout");
      if (reason !== said) context.terminal.note(printable(`waiting: ${reason}`));
      said = reason;
    };
    const unsubscribe: () => void = reflector.store.subscribe({
      onAdd: look,
      onUpdate: look,
      onDelete: look,
      onState: look,
    });
    context.interrupted.addEventListener("abort", onAbort, { once: true });
    reflector.start();
  });
}
