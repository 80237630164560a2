import { existsSync, fchmodSync, mkdirSync } from "node:fs";
import { makeDirectoryAt } from "../path/walk.ts";
import { AT_FDCWD, O, RESOLVE } from "../syscall/constants.ts";
import { Descriptor } from "../syscall/descriptor.ts";
import type { Libc } from "../syscall/libc.ts";

/**
 * Makes the state directory and, in it, the directories that hold what volumes show before it is mounted where it is
 * wanted: closed to everybody else (0700), also those that are there already. The state directory itself stays
 * passable: a prefix that is mounted on may lie beneath it.
 * @returns whether an agent has used the state directory before
 */
export function prepareStateDirectories(libc: Libc, stateDir: string): boolean {
  const ranBefore = ["staging", "data", "journal.reserve"].some((name) => existsSync(`${stateDir}/${name}`));
  mkdirSync(stateDir, { recursive: true, mode: 0o755 });
  const flags = O.DIRECTORY | O.NOFOLLOW | O.CLOEXEC;
  using state = new Descriptor(libc.openat2(AT_FDCWD, stateDir, flags, 0, 0));
  for (const name of ["staging", "data", "trash"]) {
    makeDirectoryAt(libc, state, name, 0o700);
    const resolve = RESOLVE.BENEATH | RESOLVE.NO_SYMLINKS;
    using directory = new Descriptor(libc.openat2(state.fd, name, flags, 0, resolve));
    fchmodSync(directory.fd, 0o700);
  }
  return ranBefore;
}

/** Makes the directory beneath which CSI drivers mount, closed to all but root (0700), also if it is there already. */
export function prepareCSIDirectory(libc: Libc, path: string): void {
  mkdirSync(path, { recursive: true, mode: 0o700 });
  const flags = O.DIRECTORY | O.NOFOLLOW | O.CLOEXEC;
  using directory = new Descriptor(libc.openat2(AT_FDCWD, path, flags, 0, RESOLVE.NO_SYMLINKS));
  fchmodSync(directory.fd, 0o700);
}
