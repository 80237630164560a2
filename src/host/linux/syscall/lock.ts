import { closeSync, ftruncateSync, openSync, readFileSync, writeSync } from "node:fs";
import type { Cancel } from "../../../ports.ts";
import { LOCK } from "./constants.ts";
import { errnoOf, unlessErrno } from "./errno.ts";
import type { Libc } from "./libc.ts";

/**
 * Takes the lock that only one agent of a node can hold (flock(2)); the kernel takes it back when the process ends in
 * whatever way.
 * @returns how to release it, or who holds it
 */
export function tryLock(libc: Libc, path: string): { release: Cancel } | { holder: string } {
  const fd = openSync(path, "a+", 0o600);
  try {
    libc.flock(fd, LOCK.EX | LOCK.NB);
  } catch (error) {
    closeSync(fd);
    if (errnoOf(error) !== "EAGAIN") throw error;
    return { holder: readFileSync(path, "utf8").trim() || "an unknown process" };
  }
  tellHolder(fd);
  return { release: () => closeSync(fd) };
}

/** For people alone: a disk without room must not keep the lock from being taken. */
function tellHolder(fd: number): void {
  unlessErrno(["ENOSPC", "EDQUOT"], () => {
    ftruncateSync(fd);
    writeSync(fd, `pid ${process.pid}\n`);
  });
}
