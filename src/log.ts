import winston from "winston";
import type { LogLevel } from "./log-level.ts";
import type { Logger, LogMeta } from "./ports.ts";

/** Keys whose value is never written: what a Secret, a token or sensitive mount options could stand under. */
const sensitive = /^(data|stringData|binaryData|token|password|secrets?|credentials|authorization|payload|content)$/i;
const longest = 2048;

/** A logger whose level changes while it is used, and that of all its children with it. */
export interface LeveledLogger extends Logger {
  level(): LogLevel;
  setLevel(level: LogLevel): void;
}

/** A logger that writes one JSON object a line to stderr. */
export function createLogger(level: LogLevel, base: LogMeta): LeveledLogger {
  const root = winston.createLogger({
    level,
    format: winston.format.combine(winston.format.timestamp(), winston.format.json()),
    transports: [new winston.transports.Console({ stderrLevels: ["error", "warn", "info", "debug"] })],
  });
  let now = level;
  return {
    ...wrap(root, base),
    level: () => now,
    setLevel(wanted) {
      now = wanted;
      root.level = wanted;
    },
  };
}

function wrap(root: winston.Logger, base: LogMeta): Logger {
  const write = (level: string) => (message: string, meta?: LogMeta) => {
    root.log(level, message.slice(0, longest), redact({ ...base, ...meta }));
  };
  return {
    debug: write("debug"),
    info: write("info"),
    warn: write("warn"),
    error: write("error"),
    child: (meta) => wrap(root, { ...base, ...meta }),
  };
}

/** `meta` flat and safe: objects are named by kind only, long strings are cut, sensitive keys are blanked. */
function redact(meta: LogMeta): LogMeta {
  const out: { [key: string]: unknown } = {};
  for (const [key, value] of Object.entries(meta)) {
    if (value === undefined) continue;
    if (sensitive.test(key)) out[key] = "[redacted]";
    else if (value instanceof Error) out[key] = value.message.slice(0, longest);
    else if (typeof value === "string") out[key] = value.slice(0, longest);
    else if (Array.isArray(value)) out[key] = value.map((entry) => String(entry).slice(0, 256)).slice(0, 32);
    else out[key] = typeof value === "object" && value !== null ? `[${value.constructor.name}]` : value;
  }
  return out;
}
