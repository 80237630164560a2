/** Who has which name: one each, the first that asked. */
export class NameClaims<T> {
  readonly #holders = new Map<string, T>();
  readonly #refused = new Map<string, Set<T>>();
  #freed = new Set<T>();

  /** @returns who has the name, if it is somebody else */
  take(name: string, who: T): T | undefined {
    const holder = this.#holders.get(name);
    if (holder !== undefined && holder !== who) {
      const refused = this.#refused.get(name) ?? new Set();
      this.#refused.set(name, refused.add(who));
      return holder;
    }
    this.#holders.set(name, who);
    this.#refused.get(name)?.delete(who);
    return undefined;
  }

  holds(name: string, who: T): boolean {
    return this.#holders.get(name) === who;
  }

  /** Gives all names of `who` back but this one. */
  keepOnly(who: T, name: string | undefined): void {
    for (const [held, holder] of this.#holders) {
      if (holder !== who || held === name) continue;
      this.#holders.delete(held);
      for (const waiting of this.#refused.get(held) ?? []) if (waiting !== who) this.#freed.add(waiting);
      this.#refused.delete(held);
    }
  }

  /** Gives all names of `who` back, and does not remember what it was refused. */
  forget(who: T): void {
    for (const refused of this.#refused.values()) refused.delete(who);
    this.keepOnly(who, undefined);
  }

  /** Those whose name was given back since this was asked last. */
  freed(): Iterable<T> {
    const freed = this.#freed;
    this.#freed = new Set();
    return freed;
  }
}
