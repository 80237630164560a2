import { Session } from "node:inspector/promises";

/**
 * What of src/ has run, byte by byte, as V8 counts its blocks. It makes everything slower: for looking for inputs, not
 * for trying them.
 */
export class Coverage {
  readonly #session = new Session();
  readonly #ran = new Map<string, Uint8Array>();

  async start(): Promise<void> {
    this.#session.connect();
    await this.#session.post("Profiler.enable");
    await this.#session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: true });
  }

  /** How many bytes of source have run since the last call, and never before. */
  async fresh(): Promise<number> {
    const { result } = await this.#session.post("Profiler.takePreciseCoverage");
    let fresh = 0;
    for (const { url, functions } of result) {
      if (!url.includes("/src/") || url.includes("/node_modules/")) continue;
      for (const { ranges } of functions) {
        const [whole] = ranges;
        if (whole === undefined || whole.count === 0) continue;
        const ran = this.#bytesOf(url, whole.endOffset);
        // Ranges within ranges, the inner ones behind: what counts for a byte is the last that has it.
        const now = new Uint8Array(whole.endOffset - whole.startOffset);
        for (const { startOffset, endOffset, count } of ranges)
          now.fill(count > 0 ? 1 : 0, startOffset - whole.startOffset, endOffset - whole.startOffset);
        for (const [at, is] of now.entries()) {
          if (is === 0 || ran[whole.startOffset + at] === 1) continue;
          ran[whole.startOffset + at] = 1;
          fresh += 1;
        }
      }
    }
    return fresh;
  }

  /** Bytes that have run at all. */
  get total(): number {
    return [...this.#ran.values()].reduce((sum, bytes) => sum + bytes.reduce((a, b) => a + b, 0), 0);
  }

  stop(): void {
    this.#session.disconnect();
  }

  #bytesOf(url: string, length: number): Uint8Array {
    const known = this.#ran.get(url);
    if (known !== undefined && known.length >= length) return known;
    const longer = new Uint8Array(length + 4096);
    if (known !== undefined) longer.set(known);
    this.#ran.set(url, longer);
    return longer;
  }
}
