/**
 * What one layer has, by the directory that it is in: links give a directory any number of paths, and it has one inode.
 * One that is removed and used again belongs to this layer, as nobody else makes anything meanwhile.
 */
export class LayerNames {
  readonly #entered = new Set<bigint>();
  readonly #own = new Set<bigint>();
  readonly #names = new Set<string>();

  /** The layer has a directory, or something in it. */
  enter(directory: bigint): void {
    this.#entered.add(directory);
  }

  hasEntered(directory: bigint): boolean {
    return this.#entered.has(directory);
  }

  /** Nothing of the layers beneath is in a directory any more. */
  own(directory: bigint): void {
    this.#own.add(directory);
  }

  owns(directory: bigint): boolean {
    return this.#own.has(directory);
  }

  has(directory: bigint, name: string): boolean {
    return this.owns(directory) || this.#names.has(`${directory}/${name}`);
  }

  add(directory: bigint, name: string): void {
    if (!this.owns(directory)) this.#names.add(`${directory}/${name}`);
  }
}
