/** Looks at something again and again, until it is disposed of; then it throws what a look has thrown. */
export class Regularly implements AsyncDisposable {
  readonly #timer: NodeJS.Timeout;
  #failure: { readonly error: unknown } | undefined;

  constructor(ms: number, look: () => void) {
    this.#timer = setInterval(() => {
      try {
        look();
      } catch (error) {
        this.#failure ??= { error };
        clearInterval(this.#timer);
      }
    }, ms);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#timer);
    const failure = this.#failure;
    this.#failure = undefined;
    if (failure !== undefined) throw failure.error;
  }
}
