import type { WatchUnavailable } from "../../ports/wakeups.ts";

const limits = new Set(["EMFILE", "ENFILE", "ENOSPC", "ENOMEM", "ENOBUFS"]);

/** Milliseconds after which a limit of the node is tried again: whoever is unavailable meanwhile waits by its delay. */
export const limitMs = 30_000;

/** Why nothing can be heard after a call failed with this errno. */
export function watchErrorReason(code: string): WatchUnavailable {
  return limits.has(code) ? "limit" : "unsupported";
}
