import { closeSync } from "node:fs";
import type { MountCalls } from "../syscall/mount-calls.ts";
import { parseToldMounts, type ToldMounts } from "./told-mounts.ts";

/** An event of a mount is 40 bytes. */
const bufferBytes = 40 * 512;

/** The mounts of a namespace that come, move and go, as fanotify(7) tells of them: never of changed options. */
export class MountEvents implements Disposable {
  readonly fd: number;
  readonly #calls: MountCalls;
  readonly #buffer = Buffer.alloc(bufferBytes);

  /** @throws Errno if the kernel or our rights do not have it */
  constructor(calls: MountCalls, namespaceFile: string) {
    this.#calls = calls;
    this.fd = calls.watchNamespace(namespaceFile);
  }

  /** All that was told since the last time. */
  take(): ToldMounts {
    const ids: number[] = [];
    let overflow = false;
    for (;;) {
      const length = this.#calls.read(this.fd, this.#buffer);
      if (length === 0) return { ids, overflow };
      const told = parseToldMounts(this.#buffer, length);
      ids.push(...told.ids);
      overflow ||= told.overflow;
    }
  }

  [Symbol.dispose](): void {
    closeSync(this.fd);
  }
}
