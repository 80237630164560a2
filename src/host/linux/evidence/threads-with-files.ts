import { readdirSync } from "node:fs";
import { ifThere } from "../syscall/errno.ts";
import type { Libc } from "../syscall/libc.ts";

/** Of threads that come after each other and share their open files, the first. */
export function* threadsWithFiles(libc: Libc, pid: string): Generator<string> {
  let last = pid;
  yield pid;
  for (const thread of ifThere(() => readdirSync(`/proc/${pid}/task`)) ?? []) {
    if (thread === pid || libc.sharesFiles(Number(pid), Number(thread))) continue;
    if (last !== pid && libc.sharesFiles(Number(last), Number(thread))) continue;
    last = thread;
    yield thread;
  }
}
