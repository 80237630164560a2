// node intruded-child-main.ts unpack|checkOut DIRECTORY LAYOUT PATH…: is in the place of an attacker who runs code in a
// child that fetches: tries to read, write and change each path, and what it may do to its parent. Prints as JSON what
// came of it.
import { spawnSync } from "node:child_process";
import {
  chmodSync,
  chownSync,
  closeSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  writeFileSync,
} from "node:fs";
import { open } from "node:fs/promises";
import { getHeapStatistics } from "node:v8";
import koffi from "koffi";
import { refuseCalls } from "../../../../src/host/linux/child/refuse-calls.ts";
import { confinements } from "../../../../src/host/linux/child/start-confined.ts";
import { enterGitSandbox } from "../../../../src/host/linux/git/git-sandbox.ts";
import { enterImageSandbox } from "../../../../src/host/linux/mount/image-sandbox.ts";
import { byArchitecture, F, IOCTL, SYS } from "../../../../src/host/linux/syscall/constants.ts";
import { Errno, errnoOf, ifThere } from "../../../../src/host/linux/syscall/errno.ts";
import { loadLibc } from "../../../../src/host/linux/syscall/libc.ts";
import { loadSandboxCalls } from "../../../../src/host/linux/syscall/sandbox-calls.ts";

export interface Intruded {
  /** What came of each attempt on each path: an errno's name, or "succeeded". */
  readonly paths: { readonly [path: string]: { readonly [attempt: string]: string } };
  /** The same of calls on its parent, without an effect where they succeed. */
  readonly parent: { readonly [call: string]: string };
  readonly root: readonly string[];
  /** What is in /proc. */
  readonly processes: readonly string[];
  readonly ipc: string;
  /** What a program that it has started prints before it tries to write to /usr, and the program's exit code. */
  readonly program: string;
  readonly heapMiB: number;
  /** What it reads of the image layout. */
  readonly layout: string;
}

const [, , kind = "", directory = "", layout = "", ...paths] = process.argv;
if (process.env["CONFINED"] === undefined) {
  const [libc, calls] = [loadLibc(), loadSandboxCalls()];
  const git = { directory, repository: "", revision: "", subdirectory: "", sizeLimit: 1 };
  if (kind === "checkOut") enterGitSandbox(libc, calls, git);
  else {
    const from = { layout: { root: "/", path: layout }, digest: "" };
    enterImageSandbox(libc, calls, { directory, from, sizeLimit: 1 });
  }
  const { capabilities, filtered, options } = confinements[kind as keyof typeof confinements];
  calls.keepCapabilities(capabilities);
  refuseCalls(calls, filtered);
  const again = [process.execPath, ...process.execArgv, ...options, ...process.argv.slice(1)];
  process.execve?.(process.execPath, again, { ...process.env, CONFINED: "1" });
}

const came = async (attempt: () => unknown): Promise<string> => {
  try {
    await attempt();
    return "succeeded";
  } catch (error) {
    return errnoOf(error) ?? String(error);
  }
};
async function cameOfAll(attempts: { readonly [name: string]: () => unknown }): Promise<{ [name: string]: string }> {
  const results: { [name: string]: string } = {};
  for (const [name, attempt] of Object.entries(attempts)) results[name] = await came(attempt);
  return results;
}
const onPath = (path: string) =>
  cameOfAll({
    read: () => closeSync(openSync(path, "r")),
    readInPool: async () => (await open(path, "r")).close(),
    write: () => closeSync(openSync(path, "r+")),
    make: () => writeFileSync(`${path}.made`, ""),
    chmod: () => chmodSync(path, 0o4755),
    chown: () => chownSync(path, 1, 1),
  });

const call = koffi.load(null).func("syscall", "long", ["long", "long", "long", "long", "void *", "long"]);
const numbers: { readonly [name: string]: number } = {
  ...SYS,
  ...byArchitecture[process.arch as keyof typeof byArchitecture],
};
function made(name: string, first: number, second = 0, third = 0, out: Buffer | null = null): number {
  const result = Number(call(numbers[name] ?? -1, first, second, third, out, 0));
  if (result < 0) throw new Errno(name, koffi.errno());
  return result;
}
const nothing = 0; // as a signal: whether one could be sent
const onParent = (parent: number, file: number) =>
  cameOfAll({
    kill: () => made("kill", parent, nothing),
    tkill: () => made("tkill", parent, nothing),
    tgkill: () => made("tgkill", parent, parent, nothing),
    pidfd_open: () => closeSync(made("pidfd_open", parent)),
    prlimit64: () => made("prlimit64", parent, 4, 0, Buffer.alloc(16)),
    F_SETOWN: () => made("fcntl", file, F.SETOWN, parent),
    FIOSETOWN: () => made("ioctl", file, IOCTL.FIOSETOWN, 0),
    setpgid: () => made("setpgid", 0, 0),
    itself: () => made("kill", process.pid, nothing),
  });

const started = spawnSync("/bin/sh", ["-c", "echo ran; : > /usr/made"], { encoding: "utf8" });
const intruded: Intruded = {
  paths: Object.fromEntries(await Promise.all(paths.map(async (path) => [path, await onPath(path)] as const))),
  parent: await onParent(process.ppid, 1),
  root: readdirSync("/").sort(),
  processes: ifThere(() => readdirSync("/proc")) ?? [],
  ipc: ifThere(() => readlinkSync("/proc/self/ns/ipc")) ?? "",
  program: started.error === undefined ? `${started.stdout.trim()}, ${started.status}` : `${errnoOf(started.error)}`,
  heapMiB: getHeapStatistics().heap_size_limit / 1024 ** 2,
  layout: ifThere(() => readFileSync(`/node${layout}/index.json`, "utf8")) ?? "",
};
mkdirSync(`${directory}/new`);
process.stdout.write(JSON.stringify(intruded));
