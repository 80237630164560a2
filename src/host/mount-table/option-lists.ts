/** Texts that are remembered. A node has a few dozen: most mounts have the options of many others. */
const limit = 1_024;

/** PURE. Comma separated options as lists; equal texts give the very same list, which saves memory and comparisons. */
export class OptionLists {
  readonly #known = new Map<string, readonly string[]>();

  of(text: string): readonly string[] {
    const known = this.#known.get(text);
    if (known !== undefined) return known;
    if (this.#known.size >= limit) this.#known.clear();
    // A copy: V8 keeps alive what a text was cut out of, and that may be a whole mountinfo.
    const own = Buffer.from(text).toString();
    const list = own.split(",");
    this.#known.set(own, list);
    return list;
  }
}
