import type { Logger } from "./ports.ts";

/** Has Node's own warnings be lines of the log, not plain text. What is deprecated is a developer's concern. */
export function logWarnings(process: NodeJS.Process, log: Logger): void {
  process.removeAllListeners("warning");
  process.on("warning", (warning: Error & { readonly code?: string }) => {
    const write = warning.name === "DeprecationWarning" ? log.debug : log.warn;
    write("a warning of Node.js", { warning: warning.name, code: warning.code, error: warning.message });
  });
}
