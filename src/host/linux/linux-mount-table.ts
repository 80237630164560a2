import { readFileSync } from "node:fs";
import { messageOf, VolumeError } from "../../errors.ts";
import type { Cancel } from "../../ports.ts";
import { MountTable } from "../mount-table.ts";
import { parseMountinfo } from "../mountinfo.ts";
import type { MountTableSource } from "../ports.ts";
import { watchMountTable } from "./mount-watch.ts";

/** The mount table of this process's mount namespace. Reading it takes no lock that a dead server can hold. */
export class LinuxMountTable implements MountTableSource {
  async read(): Promise<MountTable> {
    try {
      return new MountTable(parseMountinfo(readFileSync("/proc/self/mountinfo", "utf8")));
    } catch (error) {
      const message = `the mount table cannot be read: ${messageOf(error)}`;
      throw new VolumeError("MountTableUnreadable", "transient", message, { cause: error });
    }
  }

  watch(onChange: () => void): Cancel {
    const watch = watchMountTable(onChange);
    void watch.ready.then(onChange); // what changed before the watch was armed
    return watch.cancel;
  }
}
