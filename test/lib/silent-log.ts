import type { Logger } from "../../src/ports.ts";

/** A logger for tests that are not about what is logged. */
export const silent: Logger = {
  debug() {},
  info() {},
  warn() {},
  error() {},
  child: () => silent,
};
