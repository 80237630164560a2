import { type Dirent, readdirSync, rmdirSync, unlinkSync } from "node:fs";
import { O, RESOLVE } from "./constants.ts";
import { Descriptor } from "./descriptor.ts";
import { errnoOf } from "./errno.ts";
import type { Libc } from "./libc.ts";
import { makeDirectoryAt } from "./walk.ts";

/** Nothing that is reached by a name beneath a held directory lies anywhere else. */
const beneath = RESOLVE.BENEATH | RESOLVE.NO_SYMLINKS | RESOLVE.NO_MAGICLINKS;

/**
 * A directory by its path beneath another.
 * @param mounts whether what is mounted on the way may be entered
 * @throws Errno ELOOP, EXDEV, ENOTDIR, ENOENT
 */
export function openDirectoryAt(
  libc: Libc,
  above: Descriptor,
  path: string,
  mounts: "enter" | "refuse" = "enter",
): Descriptor {
  const resolve = mounts === "enter" ? beneath : beneath | RESOLVE.NO_XDEV;
  return new Descriptor(libc.openat2(above.fd, path, O.RDONLY | O.DIRECTORY | O.CLOEXEC, 0, resolve));
}

/** A file beneath a held directory. @throws Errno, EEXIST if it is to be made and is there */
export function openFileAt(libc: Libc, above: Descriptor, path: string, how: "read" | "make"): Descriptor {
  const flags = how === "read" ? O.RDONLY | O.NONBLOCK : O.WRONLY | O.CREAT | O.EXCL;
  return new Descriptor(
    libc.openat2(above.fd, path, flags | O.NOFOLLOW | O.CLOEXEC, how === "make" ? 0o600 : 0, beneath),
  );
}

/** Makes the directories of a path that are missing. @returns the last of them */
export function makeDirectoriesAt(libc: Libc, above: Descriptor, path: string, mode: number): Descriptor {
  let current = openDirectoryAt(libc, above, ".");
  for (const segment of path.split("/").filter(Boolean)) {
    using parent = current;
    makeDirectoryAt(libc, parent, segment, mode);
    current = openDirectoryAt(libc, parent, segment);
  }
  return current;
}

/**
 * Removes what has this name, with all that is in it; no link is followed and no mount entered. What is not there is no
 * error.
 * @throws Errno EXDEV, EBUSY: something is mounted there, and stays
 */
export function removeTreeAt(libc: Libc, above: Descriptor, entry: Pick<Dirent, "name" | "isDirectory">): void {
  const path = `${above.path}/${entry.name}`;
  try {
    if (!entry.isDirectory()) {
      unlinkSync(path);
      return;
    }
    using directory = openDirectoryAt(libc, above, entry.name, "refuse");
    for (const inner of readdirSync(directory.path, { withFileTypes: true })) removeTreeAt(libc, directory, inner);
    rmdirSync(path);
  } catch (error) {
    if (errnoOf(error) !== "ENOENT") throw error;
  }
}

/** The names in a directory, in no order. */
export function namesIn(directory: Descriptor): string[] {
  return readdirSync(directory.path);
}
