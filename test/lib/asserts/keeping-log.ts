import type { Logger, LogMeta } from "../../../src/ports.ts";

/** A log of every level that is kept, a line of JSON an entry. */
export function keepingLog(lines: string[], base: LogMeta = {}): Logger {
  const write = (level: string) => (message: string, meta?: LogMeta) => {
    lines.push(JSON.stringify({ level, message, ...base, ...meta }));
  };
  return {
    debug: write("debug"),
    info: write("info"),
    warn: write("warn"),
    error: write("error"),
    child: (meta) => keepingLog(lines, { ...base, ...meta }),
  };
}
