import { closeSync, openSync, readSync } from "node:fs";
import type { MountCalls } from "../syscall/mount-calls.ts";

const startBytes = 64 * 1024;
/** How often the text is read again because the table changed meanwhile, before it is taken as it is. */
const attempts = 5;

/** An open mountinfo, read again and again into the same memory. */
export class MountinfoFile implements Disposable {
  readonly #calls: MountCalls;
  readonly #fd: number;
  /** A change came while the text was read, which may not be in it. */
  #late = false;
  #buffer = Buffer.alloc(startBytes);

  constructor(calls: MountCalls, path: string) {
    this.#calls = calls;
    this.#fd = openSync(path, "r");
  }

  /** Whether the table has changed since this was asked the last time, or since the file was opened. */
  hasChanged(): boolean {
    const late = this.#late;
    this.#late = false;
    return this.#calls.hasChanged(this.#fd) || late;
  }

  /**
   * The whole text, good until the next call. The kernel gives it in pieces: what changes in between may be in it or
   * not, so it is read again while something does. If that does not end, the next hasChanged still tells of it.
   */
  read(): Buffer {
    for (let attempt = 1; ; attempt++) {
      const text = this.#readOnce();
      this.#late = this.#calls.hasChanged(this.#fd);
      if (!this.#late || attempt === attempts) return text;
    }
  }

  #readOnce(): Buffer {
    for (let length = 0; ; ) {
      if (length === this.#buffer.length) this.#buffer = Buffer.concat([this.#buffer], 2 * length);
      const read = readSync(this.#fd, this.#buffer, length, this.#buffer.length - length, length);
      if (read === 0) return this.#buffer.subarray(0, length);
      length += read;
    }
  }

  [Symbol.dispose](): void {
    closeSync(this.#fd);
  }
}
