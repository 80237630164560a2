// node image-sandbox-main.ts DIRECTORY LAYOUT PATH…: is in the place of an attacker who runs code in the child that
// unpacks an image: tries to read, write and change each path. Prints as JSON what came of it.
import { spawnSync } from "node:child_process";
import {
  chmodSync,
  chownSync,
  closeSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from "node:fs";
import { getHeapStatistics } from "node:v8";
import { refuseCalls } from "../../../../src/host/linux/child/refuse-calls.ts";
import { confinements } from "../../../../src/host/linux/child/start-confined.ts";
import { enterImageSandbox } from "../../../../src/host/linux/mount/image-sandbox.ts";
import { errnoOf } from "../../../../src/host/linux/syscall/errno.ts";
import { loadLibc } from "../../../../src/host/linux/syscall/libc.ts";
import { loadSandboxCalls } from "../../../../src/host/linux/syscall/sandbox-calls.ts";

export interface Intruded {
  /** What came of each attempt on each path: an errno's name, or "succeeded". */
  readonly paths: { readonly [path: string]: { readonly [attempt: string]: string } };
  readonly root: readonly string[];
  readonly processes: readonly string[];
  /** What a program that it has started prints before it tries to write to /usr, and the program's exit code. */
  readonly program: string;
  readonly heapMiB: number;
  /** What it reads of the image layout. */
  readonly layout: string;
}

const [, , directory = "", layout = "", ...paths] = process.argv;
if (process.env["CONFINED"] === undefined) {
  const calls = loadSandboxCalls();
  const from = { layout: { root: "/", path: layout }, digest: "" };
  enterImageSandbox(loadLibc(), calls, { directory, from, sizeLimit: 1 });
  calls.keepCapabilities(confinements.unpack.capabilities);
  refuseCalls(calls, confinements.unpack.filtered);
  const { options } = confinements.unpack;
  const again = [process.execPath, ...process.execArgv, ...options, ...process.argv.slice(1)];
  process.execve?.(process.execPath, again, { ...process.env, CONFINED: "1" });
}

const came = (attempt: () => unknown): string => {
  try {
    attempt();
    return "succeeded";
  } catch (error) {
    return errnoOf(error) ?? String(error);
  }
};
const attempts: { readonly [attempt: string]: (path: string) => unknown } = {
  read: (path) => closeSync(openSync(path, "r")),
  write: (path) => closeSync(openSync(path, "r+")),
  make: (path) => writeFileSync(`${path}.made`, ""),
  chmod: (path) => chmodSync(path, 0o4755),
  chown: (path) => chownSync(path, 1, 1),
};
const tried = (path: string) =>
  Object.fromEntries(Object.entries(attempts).map(([name, attempt]) => [name, came(() => attempt(path))]));
const intruded: Intruded = {
  paths: Object.fromEntries(paths.map((path) => [path, tried(path)])),
  root: readdirSync("/").sort(),
  processes: readdirSync("/proc"),
  program: ((made) => `${made.stdout.trim()}, ${made.status}`)(
    spawnSync("/bin/sh", ["-c", "echo ran; : > /usr/made"], { encoding: "utf8" }),
  ),
  heapMiB: getHeapStatistics().heap_size_limit / 1024 ** 2,
  layout: readFileSync(`/node${layout}/index.json`, "utf8"),
};
mkdirSync(`${directory}/new`);
process.stdout.write(JSON.stringify(intruded));
