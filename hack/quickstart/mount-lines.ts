import { closeSync, openSync, readSync } from "node:fs";

/** The mount table of a host, to be read over and over. */
export interface MountLines {
  /** Lines of mountinfo. */
  read(): string[];
  close(): void;
}

/** One descriptor and one buffer for all readings: opening the file would cost more than reading it. */
export function openMountLines(pid: number): MountLines {
  const fd = openSync(`/proc/${pid}/mountinfo`, "r");
  const buffer = Buffer.alloc(1 << 20);
  return {
    read() {
      let length = 0;
      for (;;) {
        const count = readSync(fd, buffer, length, buffer.length - length, length);
        if (count === 0) return buffer.toString("utf8", 0, length).trimEnd().split("\n");
        length += count;
      }
    },
    close: () => closeSync(fd),
  };
}

/** Where a line of mountinfo says that it is mounted. */
export function placeOf(line: string): string {
  return line.split(" ")[4] ?? "";
}
