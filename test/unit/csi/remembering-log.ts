import type { Logger, LogMeta } from "../../../src/ports.ts";

/** A log whose lines a test waits for. */
export class RememberingLog implements Logger {
  readonly #lines: { readonly message: string; readonly meta: LogMeta }[] = [];
  readonly #waiting = new Set<() => void>();

  debug(message: string, meta: LogMeta = {}): void {
    this.#lines.push({ message, meta });
    for (const tell of [...this.#waiting]) tell();
  }
  info(message: string, meta?: LogMeta): void {
    this.debug(message, meta);
  }
  warn(message: string, meta?: LogMeta): void {
    this.debug(message, meta);
  }
  error(message: string, meta?: LogMeta): void {
    this.debug(message, meta);
  }
  child(): Logger {
    return this;
  }

  /** Meta of the last line with this message. */
  of(message: string): LogMeta | undefined {
    return this.#lines.findLast((line) => line.message === message)?.meta;
  }

  /** How many lines have this message. */
  count(message: string): number {
    return this.#lines.filter((line) => line.message === message).length;
  }

  /** Resolves once there is a line with this message. */
  async told(message: string): Promise<void> {
    while (this.of(message) === undefined) {
      await new Promise<void>((resolve) => {
        const tell = () => {
          this.#waiting.delete(tell);
          resolve();
        };
        this.#waiting.add(tell);
      });
    }
  }
}
