import type { Logger } from "../../src/ports.ts";

/** A logger for what is not about what is logged. */
export const silent: Logger = {
  debug() {},
  info() {},
  warn() {},
  error() {},
  child: () => silent,
};
