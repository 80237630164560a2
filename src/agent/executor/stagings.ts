import type { Desired } from "../model/desired.ts";

/**
 * Volumes that are being staged: what is fetched for one may take hours, and is to end when nobody wants it any more.
 */
export class Stagings {
  readonly #running = new Map<string, AbortController>();

  /** @returns aborted when the volume is to go */
  begin(volume: string): AbortSignal {
    const unwanted = new AbortController();
    this.#running.set(volume, unwanted);
    return unwanted.signal;
  }

  end(volume: string): void {
    this.#running.delete(volume);
  }

  /**
   * Tells those whose intent is deleted or gone.
   * @param intents all that there are; one that is not understood changes nothing
   */
  endUnwanted(intents: ReadonlyMap<string, Desired>): void {
    for (const [volume, unwanted] of this.#running) {
      const intent = intents.get(volume);
      if (intent === undefined || intent.deleting) unwanted.abort();
    }
  }
}
