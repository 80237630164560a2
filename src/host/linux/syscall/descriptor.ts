import { closeSync, readlinkSync } from "node:fs";

/** A file descriptor that is closed when its block ends: `using fd = new Descriptor(…)`. */
export class Descriptor implements Disposable {
  readonly fd: number;

  constructor(fd: number) {
    this.fd = fd;
  }

  /** A path that names this descriptor for calls that take only paths. */
  get path(): string {
    return `/proc/self/fd/${this.fd}`;
  }

  /** Where it is now, as the kernel names it. */
  canonicalPath(): string {
    return readlinkSync(this.path);
  }

  [Symbol.dispose](): void {
    closeSync(this.fd);
  }
}
