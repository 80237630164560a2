// node filtered-main.ts free|filtered|x32: tries system calls without the filter of a fetching child, or beneath it.
// Prints the results as JSON.
import { spawnSync } from "node:child_process";
import { constants } from "node:os";
import koffi from "koffi";
import { refusedCalls, ringCalls } from "../../../../src/host/linux/child/call-filter.ts";
import { refuseCalls } from "../../../../src/host/linux/child/refuse-calls.ts";
import { byArchitecture, CLONE, SYS, X32_SYSCALL_BIT } from "../../../../src/host/linux/syscall/constants.ts";
import { Errno } from "../../../../src/host/linux/syscall/errno.ts";
import { loadSandboxCalls } from "../../../../src/host/linux/syscall/sandbox-calls.ts";

export interface Tried {
  /** What a call by the main thread came to: an errno's name, or "succeeded". */
  readonly main: { readonly [call: string]: string };
  /** unshare(2) by threads of Node's pool, which were there before the filter. */
  readonly pool: readonly string[];
  /** What socket(2) came to. */
  readonly sockets: { readonly [family: string]: string };
  /** Exit code of a program that was started. */
  readonly program: number | null;
}

const how = process.argv[2];
if (how === "filtered") {
  // As a fetching child begins: Node cannot do without the ring that it has, and does without one if it gets none.
  refuseCalls(loadSandboxCalls(), { refused: ringCalls, mayUnshare: 0xffffffff });
  const main = process.argv.slice(1, 2);
  process.execve?.(process.execPath, [process.execPath, ...process.execArgv, ...main, "confined"], process.env);
}
const arch = process.arch as keyof typeof byArchitecture;
const numbers: { readonly [name: string]: number } = { ...SYS, ...byArchitecture[arch] };
const lib = koffi.load(null);
const call = lib.func("syscall", "long", ["long", "long", "str", "long", "long", "long"]);
const unshare = lib.func("unshare", "int", ["int"]);
const socket = lib.func("socket", "int", ["int", "int", "int"]);

/** Family, type, protocol, by the kernel's numbers. */
const sockets: { readonly [family: string]: readonly [number, number, number] } = {
  ipv4: [2, 1, 0],
  ipv6: [10, 1, 0],
  routes: [16, 3, 0],
  unix: [1, 1, 0],
  packet: [17, 3, 0],
  uevents: [16, 3, 15],
  netfilter: [16, 3, 12],
  alg: [38, 5, 0],
  vsock: [40, 1, 0],
};

const inPool = (flags: number) =>
  Promise.all(
    Array.from(
      { length: 4 },
      () =>
        new Promise<string>((resolve, reject) =>
          unshare.async(flags, (error: Error | null, result: number) =>
            error === null ? resolve(result === 0 ? "succeeded" : "refused") : reject(error),
          ),
        ),
    ),
  );

function came(number: number, first = -1): string {
  if (call(number, first, "/nonexistent", -1, -1, -1) >= 0) return "succeeded";
  return new Errno("", koffi.errno()).code;
}

await inPool(0); // all of them are there now
if (how !== "free") refuseCalls(loadSandboxCalls());
if (how === "x32") came(X32_SYSCALL_BIT + 39); // getpid(2)
// Beneath the filter all are tried. Without it, only calls that change nothing with these arguments, or nothing that
// outlives this process.
const some = ["mount", "ptrace", "setns", "bpf", "keyctl", "kcmp", "adjtimex"] as const;
const listed = refusedCalls.filter((name) => numbers[name] !== undefined);
const names = how === "free" ? some : new Set([...some, ...listed]);
const main = Object.fromEntries([...names].map((name) => [name, came(numbers[name] ?? -1)]));
const made = unshare(CLONE.NEWUTS) === 0 ? "succeeded" : new Errno("", koffi.errno()).code;
const clone3 = came(SYS.clone3, 0);
const pool = await inPool(CLONE.NEWUTS);
const opened = Object.entries(sockets).map(([family, [one, type, protocol]]) => {
  return [family, socket(one, type, protocol) >= 0 ? "succeeded" : new Errno("", koffi.errno()).code];
});
const { status: program } = spawnSync("true", { killSignal: constants.signals.SIGKILL });
const tried: Tried = { main: { ...main, unshare: made, clone3 }, pool, sockets: Object.fromEntries(opened), program };
process.stdout.write(JSON.stringify(tried));
