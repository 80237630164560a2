/** Numbers as Linux's ida gives them: always the lowest that is free, so that they come back soon. */
export class LowestFree {
  readonly #first: number;
  readonly #taken = new Set<number>();

  constructor(first: number) {
    this.#first = first;
  }

  take(): number {
    let number = this.#first;
    while (this.#taken.has(number)) number++;
    this.#taken.add(number);
    return number;
  }

  free(number: number): void {
    this.#taken.delete(number);
  }
}
