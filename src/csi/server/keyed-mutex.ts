/** One action at a time for each key, in the order in which they came. */
export class KeyedMutex {
  readonly #last = new Map<string, Promise<void>>();

  /** Keys that somebody has or waits for. */
  get size(): number {
    return this.#last.size;
  }

  /**
   * Resolves as the action does, which begins when all earlier ones for the key have ended.
   * @throws the signal's reason, if it aborts before the action has begun
   */
  async take<T>(key: string, signal: AbortSignal, action: () => Promise<T>): Promise<T> {
    const before = this.#last.get(key) ?? Promise.resolve();
    const { promise: over, resolve: end } = Promise.withResolvers<void>();
    // Whoever gives up hands on the turn of the one before, not its own.
    const mine = before.then(() => over);
    this.#last.set(key, mine);
    void mine.then(() => this.#last.get(key) === mine && this.#last.delete(key));
    try {
      await unlessAborted(before, signal);
      return await action();
    } finally {
      end();
    }
  }
}

async function unlessAborted(wait: Promise<void>, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const listener = () => reject(signal.reason);
  signal.addEventListener("abort", listener, { once: true });
  try {
    await Promise.race([wait, aborted]);
  } finally {
    signal.removeEventListener("abort", listener);
  }
}
