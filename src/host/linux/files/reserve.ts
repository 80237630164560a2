import { randomFillSync } from "node:crypto";
import { closeSync, fsyncSync, openSync, statfsSync, statSync, unlinkSync, writeSync } from "node:fs";
import { unlessErrno } from "../syscall/errno.ts";

/** Room for some thousand records: more than it takes to write down that everything is being taken down. */
const reserveBytes = 1024 * 1024;
/** Only taken while this much more is free, so that it does not fill the disk itself. */
const spareBytes = 4 * reserveBytes;

/**
 * Room on a file system that others may fill: blocks that are written, and given up when a write of ours finds none.
 * What fills a disk can be volumes of ours, and to remove those the journal has to be written.
 */
export class Reserve {
  readonly #path: string;
  #held: boolean | undefined;

  constructor(path: string) {
    this.#path = path;
  }

  /** Takes the room if it is not held and there is enough of it. Never fails: the next call tries again. */
  take(): void {
    try {
      this.#held ??= sizeOf(this.#path) === reserveBytes;
      if (this.#held) return;
      const { bavail, bsize } = statfsSync(directoryOf(this.#path));
      if (bavail * bsize < spareBytes) return;
      write(this.#path);
      this.#held = true;
    } catch {
      this.#discard();
    }
  }

  /** Half of a reserve is none. That it stays is said by the next write of ours that finds no room. */
  #discard(): void {
    try {
      this.giveUp();
    } catch {
      this.#held = false;
    }
  }

  /**
   * @returns whether there may be room now that there was not before
   * @throws whatever unlink(2) says, unless it is not there
   */
  giveUp(): boolean {
    this.#held = false;
    const isGone = () => {
      unlinkSync(this.#path);
      return true;
    };
    return unlessErrno(["ENOENT"], isGone) === true;
  }
}

/** Random bytes: zeros would take no blocks where a file system compresses or leaves holes. */
function write(path: string): void {
  const fd = openSync(path, "w", 0o600);
  try {
    const content = randomFillSync(Buffer.alloc(reserveBytes));
    for (let at = 0; at < content.length; ) at += writeSync(fd, content, at);
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

function sizeOf(path: string): number | undefined {
  return statSync(path, { throwIfNoEntry: false })?.size;
}

function directoryOf(path: string): string {
  return path.slice(0, path.lastIndexOf("/")) || "/";
}
