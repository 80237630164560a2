/** Those who wait for the next time that something happens. */
export class Waiters {
  #waiting: { readonly resolve: () => void; readonly reject: (error: Error) => void }[] = [];

  wait(): Promise<void> {
    return new Promise((resolve, reject) => this.#waiting.push({ resolve, reject }));
  }

  resolve(): void {
    for (const { resolve } of this.#take()) resolve();
  }

  reject(error: Error): void {
    for (const { reject } of this.#take()) reject(error);
  }

  #take() {
    const all = this.#waiting;
    this.#waiting = [];
    return all;
  }
}
