import type { Clock } from "../../ports.ts";

/** Where a bearer token comes from. The file is exchanged while the process runs, as kubelet does with bound tokens. */
export interface TokenSource {
  /** The token as last read; read again if that was more than 60 s ago. Rejects only if there never was one. */
  current(): Promise<string>;
  /** Makes the next call of current read the file: the server has refused `token`. */
  refused(token: string): void;
}

/** Bound tokens are exchanged at 80 % of at least 10 minutes, so a minute is early enough (client-go does the same). */
const maxAgeMs = 60_000;

/** A token file, read through `readFile`. If it cannot be read later on, the last token stays in use. */
export function createFileTokenSource(deps: {
  readonly readFile: (path: string) => Promise<string>;
  readonly path: string;
  readonly clock: Clock;
}): TokenSource {
  let token: string | undefined;
  let readAt = Number.NEGATIVE_INFINITY;
  let reading: Promise<string> | undefined;

  async function read(): Promise<string> {
    try {
      const text = (await deps.readFile(deps.path)).trim();
      if (text === "") throw new Error(`the token file ${deps.path} is empty`);
      token = text;
    } catch (error) {
      if (token === undefined) throw error;
      // A file that is being exchanged may be away for a moment; the server says when the old token is no longer good.
    }
    readAt = deps.clock.monotonic();
    return token;
  }

  return {
    current() {
      if (token !== undefined && deps.clock.monotonic() - readAt < maxAgeMs) return Promise.resolve(token);
      reading ??= read().finally(() => {
        reading = undefined;
      });
      return reading;
    },
    refused(refused) {
      if (refused === token) readAt = Number.NEGATIVE_INFINITY;
    },
  };
}
