import { constants, fstatSync } from "node:fs";
import { type FileHandle, open, readFile, rename, unlink } from "node:fs/promises";
import { dirname } from "node:path";
import { messageOf } from "../../../errors.ts";
import type { JournalFile } from "../../ports/host-ports.ts";
import { errnoOf } from "../syscall/errno.ts";
import { Reserve } from "./reserve.ts";

/** Each write ends when it is on the disk, as with fdatasync(2) after it, but in one piece of work: open(2). */
const appendSynced = constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | constants.O_DSYNC;
/** Errors of a disk, or of a quota, that has no room left. */
const full = new Set(["ENOSPC", "EDQUOT"]);

/**
 * A file that is only appended to, or replaced as a whole. One caller at a time. On a full disk it takes the room that
 * it holds in reserve, and holds it again when there is room.
 */
export class LinuxJournalFile implements JournalFile {
  readonly #path: string;
  readonly #ranBefore: boolean;
  readonly #reserve: Reserve;
  #open: FileHandle | undefined;

  /** @param ranBefore whether an agent has used the directory before: then a journal was there */
  constructor(path: string, ranBefore = false) {
    this.#path = path;
    this.#ranBefore = ranBefore;
    this.#reserve = new Reserve(`${path}.reserve`);
  }

  async read(): Promise<string | undefined> {
    const bytes = await readIfThere(this.#path);
    return bytes?.toString("utf8") ?? (this.#ranBefore ? "" : undefined);
  }

  append(text: string): Promise<void> {
    return this.#withReserve(() => this.#append(text));
  }

  replace(text: string): Promise<void> {
    return this.#withReserve(() => this.#replace(text));
  }

  /** Does it once more on the room in reserve if there is no other. Errors name the file. */
  async #withReserve<T>(write: () => Promise<T>): Promise<T> {
    let result: T;
    try {
      result = await write().catch((error: unknown) => {
        if (!full.has(errnoOf(error) ?? "") || !this.#reserve.giveUp()) throw error;
        return write();
      });
    } catch (error) {
      const message = messageOf(error);
      throw message.includes(this.#path) ? error : new Error(`${this.#path}: ${message}`, { cause: error });
    }
    this.#reserve.take();
    return result;
  }

  async #append(text: string): Promise<void> {
    this.#open ??= await open(this.#path, appendSynced, 0o600);
    const { size } = fstatSync(this.#open.fd);
    try {
      await this.#open.appendFile(text);
    } catch (error) {
      await this.#open.truncate(size); // what is written next must not follow half a line
      throw error;
    }
  }

  async #replace(text: string): Promise<void> {
    await this.#putInPlace(this.#path, text);
    await this.close(); // the handle is on the file that was replaced
  }

  keepCopy(suffix: string): Promise<string> {
    return this.#withReserve(() => this.#keepCopy(suffix));
  }

  async #keepCopy(suffix: string): Promise<string> {
    const bytes = await readFile(this.#path);
    for (let n = 1; ; n++) {
      const copy = `${this.#path}.${suffix}${n === 1 ? "" : `.${n}`}`;
      const present = await readIfThere(copy);
      if (present?.equals(bytes)) return copy;
      if (present !== undefined) continue;
      await this.#putInPlace(copy, bytes);
      return copy;
    }
  }

  /** As a whole or not at all: half a file would stay, and the next attempt would make another. */
  async #putInPlace(path: string, content: string | Buffer): Promise<void> {
    const fresh = `${this.#path}.new`;
    try {
      await writeDurably(fresh, content);
    } catch (error) {
      await unlink(fresh).catch(() => {}); // the next write of ours begins it anew; what failed is the news
      throw error;
    }
    await rename(fresh, path);
    await syncDirectory(dirname(path));
  }

  async close(): Promise<void> {
    await this.#open?.close();
    this.#open = undefined;
  }
}

async function readIfThere(path: string): Promise<Buffer | undefined> {
  try {
    return await readFile(path);
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return undefined;
    throw error;
  }
}

async function writeDurably(path: string, content: string | Buffer): Promise<void> {
  const file = await open(path, "w", 0o600);
  try {
    await file.writeFile(content);
    await file.sync();
  } finally {
    await file.close();
  }
}

async function syncDirectory(path: string): Promise<void> {
  const directory = await open(path, "r");
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
}
