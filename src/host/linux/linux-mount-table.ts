import { readFileSync } from "node:fs";
import { messageOf, VolumeError } from "../../errors.ts";
import type { Cancel } from "../../ports.ts";
import { MountTable } from "../mount-table.ts";
import { parseMountinfo } from "../mountinfo.ts";
import type { MountTableSource } from "../ports.ts";
import { watchMountTable } from "./mount-watch.ts";

/** The mount table of one mount namespace. Reading it takes no lock that a dead server can hold. */
export class LinuxMountTable implements MountTableSource {
  readonly #path: string;

  /** @param process a process in that namespace: its number, or self */
  constructor(process: number | "self") {
    this.#path = `/proc/${process}/mountinfo`;
  }

  async read(): Promise<MountTable> {
    try {
      return new MountTable(parseMountinfo(readFileSync(this.#path, "utf8")));
    } catch (error) {
      const message = `the mount table cannot be read: ${messageOf(error)}`;
      throw new VolumeError("MountTableUnreadable", "transient", message, { cause: error });
    }
  }

  watch(onChange: () => void): Cancel {
    const watch = watchMountTable(this.#path, onChange);
    void watch.ready.then(onChange); // what changed before the watch was armed
    return watch.cancel;
  }
}
