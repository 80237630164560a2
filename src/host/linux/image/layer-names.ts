/** A directory that one layer writes in. */
interface Entered {
  /** Whether nothing of the layers beneath is left in it. */
  own: boolean;
  /** Whether the layer has an entry for it: of others it says nothing but that they are there. */
  named: boolean;
}

/**
 * What one layer has, by the directory that it is in: links give a directory any number of paths, and it has one inode. One that is removed
 * and used again belongs to this layer, as nobody else makes anything meanwhile.
 */
export class LayerNames {
  readonly #directories = new Map<bigint, Entered>();
  readonly #names = new Set<string>();

  /** @returns undefined if this layer has nothing in it */
  directory(inode: bigint): Readonly<Entered> | undefined {
    return this.#directories.get(inode);
  }

  enter(inode: bigint, more: Partial<Entered> = {}): void {
    this.#directories.set(inode, { own: false, named: false, ...this.#directories.get(inode), ...more });
  }

  has(directory: bigint, name: string): boolean {
    return this.directory(directory)?.own === true || this.#names.has(`${directory}/${name}`);
  }

  add(directory: bigint, name: string): void {
    if (this.directory(directory)?.own !== true) this.#names.add(`${directory}/${name}`);
  }
}
