import { hash } from "node:crypto";

/** Names that were written, with all directories above them. As digests: paths of 4,096 bytes would fill the memory. */
export class WrittenNames {
  readonly #digests = new Set<string>();

  /** How many there are, directories above them with them. */
  get size(): number {
    return this.#digests.size;
  }

  has(segments: readonly string[]): boolean {
    return this.#digests.has(digestOf(segments));
  }

  add(segments: readonly string[]): void {
    for (let length = segments.length; length > 0; length--) {
      const digest = digestOf(segments.slice(0, length));
      if (this.#digests.has(digest)) return; // and so is all above it
      this.#digests.add(digest);
    }
  }
}

function digestOf(segments: readonly string[]): string {
  return hash("sha256", segments.join("/"), "base64url");
}
