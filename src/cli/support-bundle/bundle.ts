import { redactSecrets } from "./redact-secrets.ts";
import type { TarFile } from "./tar.ts";

/** What is not in it, and why. */
interface Gap {
  readonly what: string;
  readonly why: string;
}

/** Bytes of all files before they are compressed. A bug report has to go through somebody's mail. */
const largestBundle = 64 * 1024 * 1024;

/** What is gathered, as text without what looks secret, up to a size: what is too much is left out whole, and said. */
export class Bundle {
  readonly #files = new Map<string, string>();
  readonly #gaps: Gap[] = [];
  readonly #largest: number;
  #bytes = 0;

  constructor(largest = largestBundle) {
    this.#largest = largest;
  }

  get gaps(): readonly Gap[] {
    return this.#gaps;
  }

  /** @returns whether there was room for it */
  add(path: string, text: string): boolean {
    const swept = redactSecrets(text);
    const bytes = Buffer.byteLength(swept);
    if (this.#bytes + bytes > this.#largest) {
      this.gap(path, `it has ${bytes} bytes, and the archive would have more than ${this.#largest}`);
      return false;
    }
    this.#bytes += bytes;
    this.#files.set(path, swept);
    return true;
  }

  gap(what: string, why: string): void {
    this.#gaps.push({ what: redactSecrets(what), why: redactSecrets(why) });
  }

  /** Each file by its path, sorted, with its size. */
  list(): { readonly path: string; readonly bytes: number }[] {
    const all = [...this.#files].map(([path, text]) => ({ path, bytes: Buffer.byteLength(text) }));
    return all.sort((a, b) => (a.path < b.path ? -1 : 1));
  }

  files(folder: string): TarFile[] {
    return [...this.#files].map(([path, text]) => ({ path: `${folder}/${path}`, content: Buffer.from(text) }));
  }
}
