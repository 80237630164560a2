import { writeSync } from "node:fs";
import { CAP, CAP_SYS_ADMIN } from "../syscall/constants.ts";
import { loadLibc } from "../syscall/libc.ts";
import { loadSandboxCalls } from "../syscall/sandbox-calls.ts";
import type { Filtered } from "./call-filter.ts";
import type { RequestOf } from "./child-protocol.ts";
import { ownNamespaces } from "./confined.ts";
import { execProgram } from "./exec-program.ts";
import { refuseCalls } from "./refuse-calls.ts";

type FetchingRequest = RequestOf<"unpack" | "checkOut">;

interface Confinement {
  /** Numbers of the capabilities that it keeps. */
  readonly capabilities: readonly number[];
  readonly filtered: Filtered;
  /** Options of Node, beside those that it has been started with. */
  readonly options: readonly string[];
}

/** Mebibytes. Node takes its limit from the container's, which it does not see from a root of its own. */
const heap = 128;

/** By kind of request. */
export const confinements: { readonly [kind in FetchingRequest["kind"]]: Confinement } = {
  /**
   * Owners of files are those of the image, and what was given to others is written and changed all the same. FSETID
   * keeps the set-group-ID bit. Device nodes and extended attributes are left out of an image: neither MKNOD nor
   * SETFCAP is needed. It starts nothing.
   */
  unpack: {
    capabilities: [CAP.CHOWN, CAP.DAC_OVERRIDE, CAP.FOWNER, CAP.FSETID],
    filtered: { alone: process.pid }, // which stays the same when it starts again
    options: [`--max-old-space-size=${heap}`],
  },
  /**
   * It starts git in namespaces as another user. KILL is for unshare(1), whose end is git's: the kernel sends the
   * signal of PR_SET_PDEATHSIG only if the dying parent may send it.
   */
  checkOut: {
    capabilities: [CAP.KILL, CAP.SETGID, CAP.SETUID, CAP.SETPCAP, CAP_SYS_ADMIN],
    filtered: { mayUnshare: ownNamespaces },
    options: [`--max-old-space-size=${2 * heap}`], // names of many files (tree-entries.ts)
  },
};

/**
 * Starts this program again in this process, to carry out a request with the capabilities that it needs, and beneath a
 * filter of system calls. A thread gives up its own capabilities alone, and Node has threads from its start: those of
 * the program that it becomes have never had more.
 * @throws VolumeError SetUpFailed if the kernel has no filters; Errno if it keeps capabilities that it should give up
 */
export function startConfined(request: FetchingRequest): never {
  const [libc, calls] = [loadLibc(), loadSandboxCalls()];
  const { capabilities, filtered, options } = confinements[request.kind];
  calls.keepCapabilities(capabilities);
  refuseCalls(calls, filtered);
  const again: FetchingRequest = { ...request, confined: true };
  const asked = libc.memoryFile("request");
  writeSync(asked, `${JSON.stringify(again)}\n`, 0); // where it is read from
  libc.dup2(asked, 0);
  execProgram(process.execPath, [...process.execArgv, ...options, ...process.argv.slice(1)]);
}
