import { type FileHandle, open, readFile, rename } from "node:fs/promises";
import { dirname } from "node:path";
import type { JournalFile } from "../ports.ts";
import { errnoOf } from "./errno.ts";

/** A file that is only appended to, or replaced as a whole. One caller at a time. */
export class LinuxJournalFile implements JournalFile {
  readonly #path: string;
  #open: FileHandle | undefined;

  constructor(path: string) {
    this.#path = path;
  }

  async read(): Promise<string | undefined> {
    try {
      return await readFile(this.#path, "utf8");
    } catch (error) {
      if (errnoOf(error) === "ENOENT") return undefined;
      throw error;
    }
  }

  async append(text: string): Promise<void> {
    this.#open ??= await open(this.#path, "a", 0o600);
    await this.#open.appendFile(text);
    await this.#open.datasync();
  }

  async replace(text: string): Promise<void> {
    const fresh = `${this.#path}.new`;
    const file = await open(fresh, "w", 0o600);
    try {
      await file.writeFile(text);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(fresh, this.#path);
    const directory = await open(dirname(this.#path), "r");
    try {
      await directory.sync();
    } finally {
      await directory.close();
    }
    await this.close(); // the handle is on the file that was replaced
  }

  async close(): Promise<void> {
    await this.#open?.close();
    this.#open = undefined;
  }
}
