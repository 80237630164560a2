import { closeSync, writeSync } from "node:fs";
import { basename } from "node:path";
import { printable } from "../../../api/values/printable.ts";
import { messageOf } from "../../../errors.ts";
import { secretFile } from "../../ports/programs.ts";
import { loadLibc } from "../syscall/libc.ts";
import { loadSandboxCalls } from "../syscall/sandbox-calls.ts";
import { findProgram } from "./find-program.ts";
import { leavePod, resetOOMScore, staysMark } from "./leave-cgroup.ts";

/**
 * What cannot leave serves its volume all the same: for as long as the agent's container is there.
 * @returns whether it need not stay
 */
export function leaveIfItCan(hostRoot: string): boolean {
  resetOOMScore();
  try {
    leavePod(loadLibc(), loadSandboxCalls(), hostRoot);
    return true;
  } catch (error) {
    process.stderr.write(`${staysMark}${printable(messageOf(error))}\n`);
    return false;
  }
}

/**
 * prlimit(1): who needs much memory and cannot leave the container is refused it, as the kernel would end the agent as
 * well, and all that it has started. It is enough for the headers that we make (cryptsetup-errors.ts).
 */
const limited = [`--as=${128 * 1024 * 1024}`, "--"] as const;

interface Beside {
  readonly path?: string;
  readonly env?: { readonly [name: string]: string };
  readonly secret?: string;
  /** Whether it gets no more memory than `limited` says. */
  readonly bounded?: boolean;
}

/**
 * Becomes another program. If the kernel refuses that (execve(2)), Node ends this process by SIGABRT.
 * @throws VolumeError ToolMissing; Errno; TypeError of an argument with a NUL
 */
export function execProgram(file: string, args: readonly string[], { path, env, secret, bounded }: Beside = {}): never {
  if (secret !== undefined) keepSecret(secret);
  const command = bounded === true ? [findProgram("prlimit"), ...limited, file, ...args] : [file, ...args];
  process.execve?.(command[0] ?? file, command, { ...env, PATH: path ?? "/usr/sbin:/usr/bin:/sbin:/bin", LC_ALL: "C" });
  throw new Error("process.execve is missing: Node 24 is needed");
}

/** Its number is far from those that Node has and other threads of it write to. */
function keepSecret(secret: string): void {
  const libc = loadLibc();
  const fd = libc.memoryFile("secret");
  writeSync(fd, secret);
  libc.dup2(fd, Number(basename(secretFile)));
  closeSync(fd);
}
